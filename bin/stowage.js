#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`Stowage needs Node.js 24 or newer; this is ${process.versions.node}.\n`)
  process.exit(1)
}
const { main } = await import('../dist/program/main.js')
process.exit(await main(process.argv.slice(2)))
