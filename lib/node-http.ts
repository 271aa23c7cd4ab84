/** node:http without what an `import` of it loads: Node's own fetch, for the sake of http.WebSocket (15 ms of each start). */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
