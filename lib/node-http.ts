/**
 * node:http without the modules that an `import` of it loads: the fetch of Node.js, for http.WebSocket (15 ms of each
 * start).
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
