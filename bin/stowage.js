#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`Stowage needs Node.js 24 or newer; this is ${process.versions.node}.\n`)
  process.exit(1)
}
const args = process.argv.slice(2)
const outputs = [process.stdout, process.stderr]
let failure
// A reader of the output, such as `head`, may end first: without listeners it would end the program as well. Using the streams also makes
// their descriptors non-blocking, so that the service waits for no reader that takes nothing (D35.32).
for (const output of outputs) {
  output.on('error', error => {
    if (error.code !== 'EPIPE') failure = error
  })
}
const { main } = await import('../dist/program/main.js')
let status = await main(args)
if (args[0] !== 'serve') {
  // A slow reader has not taken everything yet.
  for (const output of outputs) await new Promise(taken => output.write('', taken))
  if (failure) {
    process.stderr.write(`stowage: the output could not be written: ${failure.message}\n`)
    status = 1
  }
}
process.exit(status)
