import type { Program } from '../../core/command.ts'
import type { OperatorStore } from '../../core/operator-store.ts'
import { type QuotaOwner, STORE } from '../../files/quota-usage.ts'
import { type Answer, family } from '../../core/operator-command.ts'
import { applyLimit, describeQuotas, requireQuota } from './command-limits.ts'
import { Quotas } from './quotas.ts'
import { userNamed } from '../../core/operator-users.ts'

const PAGE = 1000

export const quotaCommand = (program: Program) =>
  family(program, 'quota', 'Shows and sets the quotas of users, groups of contexts and the store.', {
    list: { run: list },
    user: {
      words: ['NAME'],
      further: ['LIMIT'],
      options: ['max-files'],
      run: async (store, call) => {
        const { id } = await userNamed(store, call.words[0])
        return await applyLimit(store, { kind: 'user', id }, call.words[1], call)
      },
    },
    group: {
      words: ['NAME'],
      further: ['LIMIT'],
      options: ['max-files', 'contexts'],
      run: async (store, call) =>
        await applyLimit(store, { kind: 'group', id: call.words[0] ?? '' }, call.words[1], call),
    },
    store: {
      further: ['LIMIT'],
      options: ['max-files'],
      run: async (store, call) => await applyLimit(store, STORE, call.words[0], call),
    },
  })

async function list(store: OperatorStore): Promise<Answer> {
  requireQuota(store)
  const { caller } = store
  const quotas = new Quotas(store)
  const all = [await quotas.read(caller, STORE)]
  for (const kind of ['group', 'user'] satisfies Array<QuotaOwner['kind']>)
    for (let offset = 0; ; offset += PAGE) {
      const { usages } = await quotas.list(caller, kind, { limit: PAGE, offset })
      all.push(...usages)
      if (usages.length < PAGE) break
    }
  return await describeQuotas(store, all)
}
