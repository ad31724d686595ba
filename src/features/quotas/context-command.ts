import type { Program } from '../../core/command.ts'
import { type Answer, type Call, family } from '../../core/operator-command.ts'
import type { OperatorStore } from '../../core/operator-store.ts'
import { localEntry } from '../../content/creation.ts'
import { listContexts } from '../../content/context-list.ts'
import { CONTEXTS } from '../../model/addresses.ts'
import { applyLimit, describeQuotas } from './command-limits.ts'
import { Quotas } from './quotas.ts'

const PAGE = 1000

export const contextCommand = (program: Program) =>
  family(program, 'context', 'Lists and makes contexts, and sets their quotas, also while the service runs.', {
    list: { run: list },
    add: { words: ['NAME'], run: add },
    quota: {
      words: ['NAME'],
      further: ['LIMIT'],
      options: ['max-files'],
      run: async (store, call) => {
        const id = await store.entries.contextId(call.words[0] ?? '')
        return await applyLimit(store, { kind: 'context', id }, call.words[1], call)
      },
    },
  })

async function list(store: OperatorStore): Promise<Answer> {
  const ids: string[] = []
  for (;;) {
    const page = { query: undefined, limit: PAGE, offset: ids.length, sort: 'name' } as const
    const { items } = await listContexts(store.database, store.ledger, page)
    ids.push(...items.map(({ entry }) => entry.id))
    if (items.length < PAGE) break
  }
  const quotas = new Quotas(store)
  const usages = []
  for (const id of ids) usages.push(await quotas.read(store.caller, { kind: 'context', id }))
  return await describeQuotas(store, usages)
}

async function add(store: OperatorStore, { words: [name = ''] }: Call): Promise<Answer> {
  const { id } = await store.creation.create(
    store.caller,
    CONTEXTS,
    localEntry('Context', () => ({ resource: { name } })),
  )
  return { json: { id, name }, lines: [`${name} is created with the id ${id}. Administrators give others access.`] }
}
