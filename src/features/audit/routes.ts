import { type Audit, auditEvents } from '../../accounts/audit.ts'
import type { Caller } from '../../accounts/caller.ts'
import { PRINCIPALS } from '../../model/addresses.ts'
import { findUserByName, normaliseName } from '../../accounts/users.ts'
import { isoTime, parseTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { findContext } from '../../content/contexts.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { choice, custom, invalid, json, route, textParameter, wholeNumber } from '../../http/interface/route.ts'
import { anyOf, list, mapOf, named, numeric, object, optional, text } from '../../http/interface/schema.ts'
import { time } from '../../http/interface/shared-schemas.ts'
import type { Parameters } from '../../http/protocol/parameters.ts'
import type { Database } from '../../stores/database.ts'
import { findByName, titleOrEmailQuery } from '../search/find-by-name.ts'
import type { Search } from '../search/search.ts'

interface Services extends HttpServices {
  readonly audit: Audit
  readonly database: Database
  readonly search: Search
}

const pointInTime = (description: string) =>
  custom<Milliseconds | undefined>(description, readTime, { keywords: { format: 'date-time' } })

export const auditRoutes = [
  route({
    id: 'listAuditEvents',
    method: 'GET',
    url: '/management/audit',
    chapter: 'Status and administration',
    summary: 'Read the audit log, the latest event first.',
    requires: { role: 'admin', to: 'read the audit log' },
    query: {
      user: textParameter(
        'Events about this user, or caused by them: a name, a full name, a part of one, or the id of a user who may have been deleted.',
      ),
      userId: textParameter('Events about the user with exactly this id, or caused by them, whatever names there are.'),
      event: choice('Events of this kind.', auditEvents, undefined),
      place: textParameter('Events about this context (id or name) and its entries, or about one entry: `context/id`.'),
      item: textParameter(
        'Events about entries with this text in their name: the one at the time of the event, or the present one.',
      ),
      since: pointInTime('Events from then on: a date, or a date-time with its zone (ISO 8601).'),
      until: pointInTime('Events before then.'),
      limit: wholeNumber('How many to return.', { otherwise: 100, min: 1, max: 1000 }),
      offset: wholeNumber('How many to skip.', { otherwise: 0 }),
    },
    answers: {
      200: json(
        'The events.',
        named(
          'AuditTrail',
          object({
            events: list(
              object({
                time,
                event: text(),
                detail: mapOf(anyOf(text(), numeric)),
                userId: optional(text()),
                userName: optional(text()),
                actorId: optional(text()),
                address: optional(text()),
              }),
            ),
          }),
        ),
      ),
    },
    handle: async (services: Services, { caller, query: { user, userId, place, item, ...filter } }) => {
      const { audit, database } = services
      const named = user === undefined ? undefined : await idOf({ database }, user)
      const userText = named === undefined && userId === undefined ? user : undefined
      const events = await audit.list({
        userId: userId ?? named,
        userText,
        alsoUsers: (await findByName(services, caller, userText, titleOrEmailQuery('User'))).map(({ id }) => id),
        item: item === undefined ? undefined : { name: item, places: await placesCalled(services, caller, item) },
        place: place === undefined ? undefined : await placeIn({ database }, place),
        ...filter,
      })
      return { events: events.map(event => ({ ...event, time: isoTime(event.time) })) }
    },
  }),
]

/** The id of the user who has this name now. */
const idOf = async ({ database }: Pick<Services, 'database'>, name: string): Promise<string | undefined> =>
  (await findUserByName(database, normaliseName(name)))?.id

/** The entries that have this in their present name. */
async function placesCalled(services: Services, caller: Caller, item: string): Promise<readonly string[]> {
  const found = await findByName(services, caller, item, words => `name:*${words}* OR title:*${words}*`)
  return found.filter(({ context }) => context !== PRINCIPALS).map(({ context, id }) => `${context}/${id}`)
}

/** A place with the id of its context, which may have been deleted. */
async function placeIn({ database }: Pick<Services, 'database'>, place: string): Promise<string> {
  const whole = await findContext(database, place)
  if (whole) return whole.id
  // The name of a context may have slashes, the id of an entry has none.
  const end = place.lastIndexOf('/')
  const context = await findContext(database, place.slice(0, Math.max(0, end)))
  return context ? context.id + place.slice(end) : place
}

function readTime(parameters: Parameters, name: string): Milliseconds | undefined {
  const text = parameters.get(name)
  if (text === undefined) return undefined
  const time = parseTime(text)
  if (time !== undefined) return time
  throw invalid(`\`${name}\` must be a date such as 2027-01-31, or a time with a zone, but is "${text.slice(0, 40)}".`)
}
