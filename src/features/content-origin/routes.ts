import { type Caller, guestFrom } from '../../accounts/caller.ts'
import { type Client, isCurrent, type Sessions } from '../../accounts/sessions.ts'
import { Forbidden, NotFound, Unauthenticated } from '../../base/errors.ts'
import { PRINCIPALS, resourceUri } from '../../model/addresses.ts'
import type { Entry } from '../../model/entry.ts'
import { sendFile } from '../../http/download.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { type Exchange, undescribed } from '../../http/interface/route.ts'
import type { Files } from '../../files/files.ts'
import type { Resources } from '../../content/resources.ts'
import type { UserCache } from '../../accounts/user-cache.ts'
import { type TicketOrigin, TICKET_PATH } from './ticket-origin.ts'
import type { OpenedTicket } from './tickets.ts'

interface Services extends HttpServices {
  readonly origin: TicketOrigin
  readonly files: Files
  readonly resources: Pick<Resources, 'read' | 'recheck'>
  readonly sessions: Sessions
  readonly users: UserCache
}

/** The only route of the content origin (D18.15). Other origins do not have it. */
export const contentOriginRoutes = [
  undescribed({
    method: 'GET',
    url: `/${TICKET_PATH}:ticket`,
    onContentOrigin: true,
    handle: async (deps: Services, { request, reply, params }) =>
      await answerTicket(deps, request, reply, params.ticket),
  }),
]

/**
 * Sends the file of a ticket. A ticket that no longer holds leads back to the address of the file, which checks the right and
 * issues a new ticket, or asks the user to sign in.
 */
async function answerTicket(
  deps: Services,
  request: Exchange['request'],
  reply: Exchange['reply'],
  text: string,
): Promise<unknown> {
  const ticket = deps.origin.tickets.open(text)
  if (!ticket) throw new NotFound('not-found', 'There is nothing at this address.')
  const entry = ticket.hasExpired ? undefined : await readableEntry(deps, ticket, request.caller.client)
  if (!entry) return await reply.redirect(addressOf(deps, ticket), 302)
  return await sendFile(deps, request, reply, entry, {
    framedBy: deps.base.origin,
    check: () => recheck(deps, ticket, request.caller.client),
  })
}

/** The address at which the file of a ticket is read without a ticket. */
function addressOf({ base, origin }: Services, { share, ...ticket }: OpenedTicket): string {
  const path = share === undefined ? undefined : origin.shares?.pathOf(share, ticket.id)
  return path === undefined ? base.toAbsolute(resourceUri(ticket)) : base.at(path)
}

/** The entry of the ticket; `undefined` when its session, share or right has ended, or the file has changed since. */
async function readableEntry(deps: Services, ticket: OpenedTicket, client: Client): Promise<Entry | undefined> {
  try {
    const entry =
      ticket.share === undefined
        ? await entryForCaller(deps, ticket, client)
        : await deps.origin.shares?.reopen(ticket.share, ticket.id, client)
    const found = entry?.context === ticket.context ? await deps.files.read(entry, () => undefined) : undefined
    return found?.file.sha256 === ticket.sha256 ? entry : undefined
  } catch (error) {
    if (error instanceof NotFound || error instanceof Forbidden || error instanceof Unauthenticated) return undefined
    throw error
  }
}

/** Looks the right to the file up once more, while it is being sent. @throws {NotFound | Forbidden | Unauthenticated} */
async function recheck(deps: Services, ticket: OpenedTicket, client: Client): Promise<readonly string[]> {
  const { context, id, share } = ticket
  if (share !== undefined) return (await deps.origin.shares?.recheck(share, id, client)) ?? []
  const caller = await callerOf(deps, ticket, client)
  if (!caller) throw new Unauthenticated('not-signed-in', 'Your session has ended. Sign in again.')
  const subjects = await deps.resources.recheck(caller, 'readresource', { context, entry: id })
  return [...subjects, `${PRINCIPALS}/${caller.user.id}`]
}

async function entryForCaller(deps: Services, ticket: OpenedTicket, client: Client): Promise<Entry | undefined> {
  const caller = await callerOf(deps, ticket, client)
  if (!caller) return undefined
  const { entry, content } = await deps.resources.read(caller, { context: ticket.context, entry: ticket.id })
  return content?.form === 'file' ? entry : undefined
}

/** The present state of the user whose session requested the ticket. The session itself is not used, so it is not extended. */
async function callerOf(
  { sessions, users }: Services,
  { session: handle }: OpenedTicket,
  client: Client,
): Promise<Caller | undefined> {
  if (handle === undefined) return guestFrom(client)
  const session = await sessions.findByHandle(handle)
  const known = session && (await users.find(session.userId))
  if (!known || known.user.disabled || !isCurrent(session, known.user)) return undefined
  return { ...known, client }
}
