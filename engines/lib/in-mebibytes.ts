export const inMebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
