import type { Entry } from '../../model/entry.ts'
import { quotaObject } from '../../files/quota-ledger.ts'
import type { Usage } from '../../files/quota-usage.ts'
import { checkedBelow } from '../../http/interface/bodies.ts'
import { type Exchange, json, route } from '../../http/interface/route.ts'
import { Quota, SentQuota } from '../../http/interface/shared-schemas.ts'
import type { ContextQuotas } from './context-quotas.ts'
import { hasQuota, type QuotaServices } from './routes.ts'

interface Services extends QuotaServices {
  readonly contextQuotas: ContextQuotas
}

/** The quota of a context in bytes, as clients know it (D7.1). `/quota/contexts` has it with the number of files. */
export const contextQuotaRoutes = [
  route({
    id: 'readQuota',
    method: 'GET',
    url: '/:context/quota',
    chapter: 'Contexts and quota',
    summary: 'Read the quota and the fill level of a context.',
    access: 'callers who can read the resource of the context, and administrators',
    tokenScopes: ['read', 'quota'],
    answers: { 200: json('The quota.', Quota) },
    refusals: { 401: [], 403: [], 404: [], 501: ['quota-not-supported'] },
    isOffered: hasQuota,
    handle: async ({ contextQuotas }: Services, { reply, caller, params }) =>
      describeQuota(reply, await contextQuotas.find(caller, params.context)),
  }),
  route({
    id: 'setQuota',
    method: 'PUT',
    url: '/:context/quota',
    tokenScopes: ['quota'],
    chapter: 'Contexts and quota',
    summary: 'Set the quota of a context, in bytes; -1 is no limit.',
    access: 'administrators',
    body: checkedBelow(SentQuota, { example: { quota: 150_000_000 } }),
    answers: { 200: json('The quota.', Quota) },
    refusals: { 400: ['invalid-quota'], 401: [], 403: [], 404: [], 501: ['quota-not-supported'] },
    isOffered: hasQuota,
    handle: async ({ contextQuotas }: Services, { reply, caller, params, body }) =>
      describeQuota(reply, await contextQuotas.change(caller, params.context, body)),
  }),
  route({
    id: 'resetQuota',
    method: 'DELETE',
    url: '/:context/quota',
    tokenScopes: ['quota'],
    chapter: 'Contexts and quota',
    summary: 'Go back to the default quota.',
    access: 'administrators',
    answers: { 200: json('The quota.', Quota) },
    refusals: { 401: [], 403: [], 404: [], 501: ['quota-not-supported'] },
    isOffered: hasQuota,
    handle: async ({ contextQuotas }: Services, { reply, caller, params }) =>
      describeQuota(reply, await contextQuotas.change(caller, params.context, undefined)),
  }),
]

/** Quota and fill level change without the entry, so the response has only the date that clients need. */
function describeQuota(reply: Exchange['reply'], { entry, quota }: { readonly entry: Entry; readonly quota: Usage }) {
  reply.header('last-modified', new Date(entry.modified).toUTCString())
  return quotaObject(quota)
}
