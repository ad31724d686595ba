// npm does not forward a signal that ends it. Without this check the service would keep its port and data folder.
const parent = process.ppid
setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGTERM'), 1000).unref()
