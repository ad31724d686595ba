// Runs a command of the program and reports what it took.
const { main } = await import('../../dist/program/main.js')
const status = await main(process.argv.slice(2))
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
process.send({ status, cpu: (userCPUTime + systemCPUTime) / 1e6, memory: maxRSS * 1024 }, () => process.disconnect())
