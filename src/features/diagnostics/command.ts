import { lineOf, statusOf } from '../../core/check-result.ts'
import {
  type Command,
  parseArguments,
  print,
  type Program,
  settingsOptions,
  settingsUsage,
} from '../../core/command.ts'
import { reportOf } from './report.ts'

export const doctorCommand = (program: Program): Command => ({
  name: 'doctor',
  usage: `[--report] ${settingsUsage}`,
  summary: 'Checks addresses, disk, databases, keys, other nodes and identity providers without starting the service.',
  async run(args) {
    const { report, ...options } = parseArguments(
      args,
      { ...settingsOptions, report: { type: 'boolean' } },
      false,
    ).values
    const from = { config: options.config, set: options.set }
    const found = await program.runChecks(from)
    const { version, commit } = program
    const lines = report
      ? reportOf({ version, commit, settings: await program.effectiveSettings(from), findings: found })
      : found.map(lineOf)
    for (const line of lines) print(line)
    return statusOf(found)
  },
})
