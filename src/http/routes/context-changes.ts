import type { FastifyReply } from 'fastify'
import type { Caller } from '../../accounts/caller.ts'
import { entryValidators, validatorHeaders } from '../conditional.ts'
import { named, object, optional, text } from '../interface/schema.ts'
import { Quota } from '../interface/schemas.ts'
import type { Uses } from '../services.ts'

export const ContextState = named(
  'Context',
  object({ contextId: text(), name: optional(text()), alias: optional(text()), quota: optional(Quota) }),
)

/** Changes name and quota of a context, by either address of its resource: `/{c}` and `/_contexts/resource/{c}` (D7.2). */
export async function changeContext(
  { contexts }: Uses<'contexts'>,
  reply: FastifyReply,
  caller: Caller,
  id: string,
  body: () => Promise<unknown>,
): Promise<unknown> {
  const context = await contexts.put(caller, id, body)
  reply.headers(validatorHeaders(entryValidators(context.entry)))
  return { contextId: context.entry.id, name: context.name, alias: context.name, quota: context.quota }
}
