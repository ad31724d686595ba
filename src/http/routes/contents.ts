import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, guestFrom } from '../../accounts/caller.ts'
import { type Client, isCurrent } from '../../accounts/sessions.ts'
import { Forbidden, NotFound, Unauthenticated } from '../../base/errors.ts'
import { resourceUri } from '../../model/addresses.ts'
import type { Entry } from '../../model/entry.ts'
import { publicFilePath, TICKET_PATH, type OpenedTicket } from '../content-origin.ts'
import { sendFile } from '../download.ts'
import { undescribed } from '../interface/route.ts'
import type { Uses } from '../services.ts'

type ContentServices = Uses<
  'base' | 'contentOrigin' | 'files' | 'linkVisits' | 'options' | 'resources' | 'sessions' | 'users'
>

/** The only route of the content origin (D18.15). Other origins do not have it. */
export const contentRoutes = [
  undescribed({
    method: 'GET',
    url: `/${TICKET_PATH}:ticket`,
    isOffered: ({ contentOrigin }: ContentServices) => contentOrigin !== undefined,
    onContentOrigin: true,
    handle: async (deps: ContentServices, { request, reply, params }) =>
      await answerTicket(deps, request, reply, params.ticket),
  }),
]

/**
 * Sends the file of a ticket. A ticket that no longer holds leads back to the address of the file, which checks the right and
 * issues a new ticket, or asks the user to sign in.
 */
async function answerTicket(
  deps: ContentServices,
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<unknown> {
  const ticket = deps.contentOrigin?.tickets.open(text)
  if (!ticket) throw new NotFound('not-found', 'There is nothing at this address.')
  const entry = ticket.hasExpired ? undefined : await readableEntry(deps, ticket, request.caller.client)
  if (!entry) return await reply.redirect(addressOf(deps, ticket), 302)
  return await sendFile(deps, request, reply, entry, { framedBy: deps.base.origin })
}

/** Where the file of a ticket is read without one. */
const addressOf = ({ base }: ContentServices, ticket: OpenedTicket): string =>
  ticket.link === undefined ? base.toAbsolute(resourceUri(ticket)) : base.at(publicFilePath(ticket.link, ticket.id))

/** The entry of the ticket; `undefined` when its session, link or right has ended, or the file has changed since. */
async function readableEntry(deps: ContentServices, ticket: OpenedTicket, client: Client): Promise<Entry | undefined> {
  try {
    const entry =
      ticket.link === undefined
        ? await entryForCaller(deps, ticket, client)
        : await deps.linkVisits?.reopen(ticket.link, ticket.id, client)
    const found = entry?.context === ticket.context ? await deps.files.read(entry, () => undefined) : undefined
    return found?.file.sha256 === ticket.sha256 ? entry : undefined
  } catch (error) {
    if (error instanceof NotFound || error instanceof Forbidden || error instanceof Unauthenticated) return undefined
    throw error
  }
}

async function entryForCaller(deps: ContentServices, ticket: OpenedTicket, client: Client): Promise<Entry | undefined> {
  const caller = await callerOf(deps, ticket, client)
  if (!caller) return undefined
  const { entry, content } = await deps.resources.read(caller, { context: ticket.context, entry: ticket.id })
  return content?.form === 'file' ? entry : undefined
}

/** The present state of the user whose session requested the ticket. The session itself is not used, so it is not extended. */
async function callerOf(
  { sessions, users }: ContentServices,
  { session: handle }: OpenedTicket,
  client: Client,
): Promise<Caller | undefined> {
  if (handle === undefined) return guestFrom(client)
  const session = await sessions.findByHandle(handle)
  const known = session && (await users.find(session.userId))
  if (!known || known.user.disabled || !isCurrent(session, known.user)) return undefined
  return { ...known, client }
}
