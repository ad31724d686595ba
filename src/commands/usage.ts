import type { OperatorStore } from '../assembly/operator.ts'
import { InvalidInput } from '../base/errors.ts'
import type { Usage } from '../files/quota-usage.ts'
import { type Answer, type Call, single, table } from './operator-command.ts'
import { columns, describeQuota, titles } from './quota-limits.ts'

const DEFAULT_LIMIT = '10'
const MAX_LIMIT = 1000

export const usage = single('usage', 'Lists the contexts and users that use most bytes, also while the service runs.', {
  options: ['limit'],
  run: list,
})

async function list(store: OperatorStore, { option }: Call): Promise<Answer> {
  const limit = readLimit(option('limit') ?? DEFAULT_LIMIT)
  const largest = async (kind: 'context' | 'user'): Promise<readonly Usage[]> =>
    (await store.quotas.list(store.caller, kind, { limit, offset: 0 })).usages
  const [contexts, users] = [await largest('context'), await largest('user')]
  const described = {
    contexts: await Promise.all(contexts.map(usage => describeQuota(store, usage))),
    users: await Promise.all(users.map(usage => describeQuota(store, usage))),
  }
  const rows = [...described.contexts, ...described.users].map(columns)
  return { json: described, lines: table([titles, ...rows]) }
}

function readLimit(text: string): number {
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new InvalidInput('invalid-value', `--limit must be a whole number from 1 to ${MAX_LIMIT}, but is "${text}".`)
}
