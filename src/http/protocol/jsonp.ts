import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput } from '../../base/errors.ts'

/** Names, possibly of members: nothing that could do more than be called. */
const callbackName = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/
const LONGEST_NAME = 128

/**
 * The function that a page of another site wants the answer handed to, by loading it as a script (W3.0.4). Such
 * an answer can be read by every site, whatever CORS says, so it is a guest's; under `/auth/` there is none (D2.9).
 * @throws {InvalidInput} for anything but a name
 */
export function callbackOf({ method, parameters, routeOptions, url }: FastifyRequest): string | undefined {
  const isOffered = (method === 'GET' || method === 'HEAD') && !(routeOptions.url ?? url).startsWith('/auth/')
  const name = isOffered ? parameters.get('callback') : undefined
  if (name === undefined || (name.length <= LONGEST_NAME && callbackName.test(name))) return name
  throw new InvalidInput('invalid-query', '`callback` is not the name of a function.')
}

/** The answer as a call of that function; anything but a success in JSON of our own making stays as it is. */
export function asScript(reply: FastifyReply, payload: unknown, callback: string | undefined): unknown {
  const type = String(reply.getHeader('content-type'))
  const isJson = typeof payload === 'string' && /^application\/(?:[a-z.-]+\+)?json\b/.test(type)
  if (callback === undefined || !isJson || reply.statusCode !== 200) return payload
  reply.type('application/javascript; charset=utf-8')
  // The comment keeps the name from being the first bytes of the answer: other formats have been forged that way. Older
  // browsers take U+2028 and U+2029 for line ends, also inside a string.
  const json = payload.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return `/**/${callback}(${json});`
}
