import type { OperatorStore } from '../../core/operator-store.ts'
import type { Usage } from '../../files/quota-usage.ts'
import { type Program, UsageError } from '../../core/command.ts'
import { type Answer, type Call, single, table } from '../../core/operator-command.ts'
import { describeQuota, titles } from './command-limits.ts'
import { Quotas } from './quotas.ts'

const DEFAULT_LIMIT = '10'
const MAX_LIMIT = 1000

export const usageCommand = (program: Program) =>
  single(program, 'usage', 'Lists the contexts and users that use most bytes, also while the service runs.', {
    options: ['limit'],
    run: list,
  })

async function list(store: OperatorStore, { option }: Call): Promise<Answer> {
  const limit = readLimit(option('limit') ?? DEFAULT_LIMIT)
  const quotas = new Quotas(store)
  const largest = async (kind: 'context' | 'user'): Promise<readonly Usage[]> =>
    (await quotas.list(store.caller, kind, { limit, offset: 0 })).usages
  const [contexts, users] = [await largest('context'), await largest('user')]
  const describe = async (usages: readonly Usage[]) =>
    await Promise.all(usages.map(usage => describeQuota(store, usage)))
  const [ofContexts, ofUsers] = [await describe(contexts), await describe(users)]
  const jsonOf = (described: typeof ofContexts) => described.map(({ json }) => json)
  return {
    json: { contexts: jsonOf(ofContexts), users: jsonOf(ofUsers) },
    lines: table([titles, ...[...ofContexts, ...ofUsers].map(({ row }) => row)]),
  }
}

function readLimit(text: string): number {
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}, but is "${text}".`)
}
