import type { FastifyReply } from 'fastify'
import { pageHeaders } from './pages/html.ts'

/** Sends a whole page; the headers are those of a page whose forms go to the service itself. */
export const sendPage = (
  reply: FastifyReply,
  page: string,
  headers: Readonly<Record<string, string>> = pageHeaders,
): FastifyReply => reply.type('text/html; charset=utf-8').headers(headers).send(page)
