import { type Command, type Program, wrongWord } from '../src/core/command.ts'
import { importCompare, importCompareUsage } from './compare/command.ts'
import { importConfig } from './settings/command.ts'
import { importEntryStore, importEntryStoreUsage } from './entrystore/command.ts'

const verbs: Readonly<Record<string, (args: readonly string[], program: Program) => Promise<number>>> = {
  entrystore: importEntryStore,
  'entrystore-config': importConfig,
  compare: importCompare,
}

export const importCommand = (program: Program): Command => ({
  name: 'import',
  usage: `entrystore ${importEntryStoreUsage}\n       import entrystore-config FILE [--output FILE]\n       import compare ${importCompareUsage}`,
  summary: 'Moves an EntryStore installation into an empty store; see docs/migrating-from-entrystore.md.',
  async run([verb = '', ...args]) {
    const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (!run) throw wrongWord('import', Object.keys(verbs), verb)
    return await run(args, program)
  },
})
