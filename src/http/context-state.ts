import type { FastifyReply } from 'fastify'
import type { ContextDescription } from '../content/resource-kind.ts'
import { entryValidators, validatorHeaders } from './conditional.ts'
import { named, object, optional, text } from './interface/schema.ts'
import { Quota } from './interface/schemas.ts'

export const ContextState = named(
  'Context',
  object({ contextId: text(), name: optional(text()), alias: optional(text()), quota: optional(Quota) }),
)

/** Name and quota of a context, which has two addresses: `/{c}` and `/_contexts/resource/{c}` (D7.2). */
export function describeContext(reply: FastifyReply, { entry, name, quota }: ContextDescription): unknown {
  reply.headers(validatorHeaders(entryValidators(entry)))
  return { contextId: entry.id, name, alias: name, quota }
}
