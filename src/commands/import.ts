import { type Command, UsageError } from './command.ts'
import { importCompare, importCompareUsage } from './import-compare.ts'
import { importConfig } from './import-config.ts'
import { importEntryStore, importEntryStoreUsage } from './import-entrystore.ts'

const verbs: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  entrystore: importEntryStore,
  'entrystore-config': importConfig,
  compare: importCompare,
}

export const importCommand: Command = {
  name: 'import',
  usage: `entrystore ${importEntryStoreUsage}\n       import entrystore-config FILE [--output FILE]\n       import compare ${importCompareUsage}`,
  summary: 'Moves an EntryStore installation into an empty store; see docs/migrating-from-entrystore.md.',
  async run([verb = '', ...args]) {
    const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (!run) throw new UsageError(`Say \`import ${Object.keys(verbs).join('`, `import ')}\`.`)
    return await run(args)
  },
}
