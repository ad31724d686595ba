import type { FastifyReply } from 'fastify'

/** Adds a request header to those on which the response depends. */
export function addVary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader('vary')
  const names = typeof present === 'string' ? present.split(', ') : []
  if (!names.includes(name)) reply.header('vary', [...names, name].join(', '))
}
