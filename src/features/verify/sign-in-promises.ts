import { realSystem } from '../../base/system.ts'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type Answer, type Client, cookiesOf, receivedLength, sessionIn, tell } from './client.ts'
import { CannotCheck, broken, holds, kept, unchecked } from './outcome.ts'
import type { Promised } from './promise.ts'
import { requireOk, type Site } from './site.ts'

const PROXY = 'how-to/reverse-proxy.md'
const PASSWORDS = 'passwords-and-lockout.md'
const LOCKOUT_KEY = 'service.auth.temp.lockout.max.attempts'
const WRONG = 'verify-wrong-password'
/** More than the buffers of both connections and of a proxy hold while the client reads nothing. */
const DOWNLOAD = 48 * 2 ** 20
/** Long enough for a proxy to take all of it from the service. */
const BUFFERING = 3000
/** Longer than a node needs to end a download whose session has ended on another node. */
const ENDING = 3000
/** Of documentation (RFC 5737): no client has it. */
const FORGED = '203.0.113.77'

async function signInAnswer(site: Site): Promise<Answer> {
  const { name, password } = await site.person()
  const client = site.guest()
  return requireOk(await client.signIn(name, password), 'the sign-in')
}

async function cookieOf(site: Site): Promise<string> {
  const [cookie] = cookiesOf(await signInAnswer(site)).filter(one => one.startsWith('auth_token='))
  if (cookie === undefined) throw new CannotCheck('the sign-in set no cookie')
  return cookie
}

const hasAttribute = (cookie: string, name: string): boolean => new RegExp(`;\\s*${name}(?:;|=|$)`, 'i').test(cookie)

interface Event {
  readonly event: string
  readonly address?: string
  readonly userName?: string
}

/** The address that the service saw at the last wrong password of a new user. */
async function addressSeen(
  site: Site,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly seen: string; readonly answer: Answer }> {
  const { name, id } = await site.workshop.user()
  const answer = await site.guest().signIn(name, WRONG, headers)
  if (answer.status !== 401) throw new CannotCheck(`a wrong password was answered by ${tell(answer)}`)
  const trail = requireOk(await site.admin.ask(`management/audit?userId=${id}&event=login-failed`), 'the audit log')
  const [event] = trail.json<{ readonly events: readonly Event[] }>().events
  if (!event) throw new CannotCheck('the wrong password is not in the audit log')
  return { seen: event.address ?? '', answer }
}

/** Addresses that are no use outside their own network. */
const isPrivate = (address: string): boolean =>
  /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|::1$|f[cd]|fe80)/i.test(address)
const plainAddress = (address: string): string => address.replace(/^::ffff:/, '')

/** Whether the client is a guest at every node. */
async function isGuestEverywhere(site: Site, client: Client): Promise<boolean> {
  const answers = await Promise.all(site.everywhere(client).map(one => one.ask('auth/user')))
  return answers.every(
    answer => answer.status === 401 || (answer.status === 200 && !/"id":"(?!_guest)/.test(answer.text)),
  )
}

const seenBy = (site: Site): string =>
  site.nodes.length > 0 ? `${site.nodes.length} nodes, at once` : 'with the next request'

/** Ends all other sessions of the user. @throws {CannotCheck} */
async function endOthers(client: Client): Promise<void> {
  const ended = await client.ask('auth/tokens', { method: 'DELETE', json: { scope: 'others' } })
  if (ended.status >= 300) throw new CannotCheck(`the sessions could not be ended: ${tell(ended)}`)
}

export const signInPromises: readonly Promised[] = [
  {
    id: 'cookie',
    sentence: 'A browser that signs in stays signed in.',
    page: 'concepts.md',
    check: async site => {
      const { id } = await site.person()
      const client = site.guest().withSession(sessionIn(await signInAnswer(site)))
      const answer = await client.ask('auth/user')
      return holds(
        answer.text.includes(`"${id}"`),
        tell(answer),
        'Let the proxy pass Cookie and Set-Cookie on unchanged.',
      )
    },
  },
  {
    id: 'cookie-secure',
    sentence: 'With an https address, the cookie is `Secure`.',
    page: PROXY,
    check: async site => {
      if (!site.isSecure) return unchecked('the base address is http')
      const cookie = await cookieOf(site)
      return holds(
        hasAttribute(cookie, 'secure'),
        hasAttribute(cookie, 'secure') ? 'Secure' : 'no Secure',
        'Set service.baseurl.folder to the https address, and let the proxy pass Set-Cookie on unchanged.',
      )
    },
  },
  {
    id: 'cookie-http-only',
    sentence: 'Scripts cannot read the cookie (`HttpOnly`).',
    page: 'security.md',
    check: async site =>
      holds(hasAttribute(await cookieOf(site), 'httponly'), 'HttpOnly', 'Let the proxy pass Set-Cookie on unchanged.'),
  },
  {
    id: 'cookie-same-site',
    sentence: 'Pages of other sites cannot use the cookie (`SameSite`).',
    page: 'security.md',
    check: async site => {
      const [, value = ''] = /;\s*samesite=(\w+)/i.exec(await cookieOf(site)) ?? []
      return holds(
        /^(?:lax|strict)$/i.test(value),
        value === '' ? 'no SameSite' : `SameSite=${value}`,
        'Set service.auth.cookie.samesite = lax or strict, unless pages of other sites must be signed in.',
      )
    },
  },
  {
    id: 'cookie-path',
    sentence: 'The cookie is sent to the service only, not to others on the same host.',
    page: PROXY,
    check: async site => {
      const [, path = ''] = /;\s*path=([^;]+)/i.exec(await cookieOf(site)) ?? []
      return holds(
        site.base.pathname.startsWith(path) && (path !== '/' || site.base.pathname === '/'),
        `Path=${path}`,
        'Let the proxy pass Set-Cookie on unchanged (no proxy_cookie_path).',
      )
    },
  },
  {
    id: 'sign-out',
    sentence: 'A sign-out ends the session.',
    page: 'concepts.md',
    check: async site => {
      const client = site.guest().withSession(sessionIn(await signInAnswer(site)))
      const out = await client.ask('auth/logout', { method: 'POST' })
      return holds(
        await isGuestEverywhere(site, client),
        tell(out),
        'Let the proxy pass POST on, and let it not cache.',
      )
    },
  },
  {
    id: 'disabled-user',
    sentence: 'The sessions of a user who is disabled end with the next request, on every node.',
    page: 'reference/behaviour.md',
    check: async site => {
      const person = await site.workshop.user()
      const client = await site.signedIn(person)
      const put = await site.admin.ask(`_principals/resource/${person.id}`, { method: 'PUT', json: { disabled: true } })
      if (put.status >= 300) return unchecked(`the user could not be disabled: ${tell(put)}`)
      return holds(
        await isGuestEverywhere(site, client),
        seenBy(site),
        'Connect all nodes to the same PostgreSQL and Redis, and let the proxy not cache.',
      )
    },
  },
  {
    id: 'ended-session',
    sentence: 'A session that its user ends elsewhere ends with the next request, on every node.',
    page: 'reference/behaviour.md',
    check: async site => {
      const person = await site.workshop.user()
      const [lost, own] = [await site.signedIn(person), await site.signedIn(person)]
      await endOthers(own)
      return holds(
        await isGuestEverywhere(site, lost),
        seenBy(site),
        'Connect all nodes to the same Redis or database (service.auth.token.store).',
      )
    },
  },
  {
    id: 'running-download',
    runs: 'beside',
    sentence: 'A download in progress ends with the session that it belongs to.',
    page: 'reference/behaviour.md',
    check: async site => {
      const person = await site.workshop.user()
      const [lost, own] = [await site.signedIn(person), await site.signedIn(person)]
      const bytes = Buffer.from(realSystem.randomBytes(DOWNLOAD))
      const path = await site.workshop.file(lost, await site.workshop.context([person.id]), bytes)
      const sent = lost.begin(path)
      sent.end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      await setTimeout(BUFFERING)
      await endOthers(own)
      await setTimeout(ENDING)
      const length = await receivedLength(response)
      return holds(
        length < bytes.length,
        `${length} of ${bytes.length} bytes came`,
        'Let the proxy read no more of a response than its client takes (proxy_max_temp_file_size 0).',
      )
    },
  },
  {
    id: 'revoked-token',
    sentence: 'An access token that is revoked is refused from the next request on, on every node.',
    page: PASSWORDS,
    check: async site => {
      const person = await site.workshop.user()
      const owner = await site.signedIn(person)
      const expires = new Date(realSystem.now() + 86_400_000).toISOString()
      const made = await owner.ask('auth/access-tokens', { json: { name: 'verify', expires, scopes: ['read'] } })
      if (made.status !== 201) return unchecked(`a token could not be created: ${tell(made)}`)
      const { id, token } = made.json<{ readonly id: string; readonly token: string }>()
      const program = site.guest()
      program.token = token
      const before = await program.ask('auth/user')
      await owner.ask(`auth/access-tokens/${id}`, { method: 'DELETE' })
      const after = await Promise.all(site.everywhere(program).map(one => one.ask('auth/user')))
      if (before.status !== 200) return broken(`a new token: ${tell(before)}`, 'Let the proxy pass Authorization on.')
      return holds(
        after.every(({ status }) => status === 401),
        after.map(tell).join(', '),
        'Connect all nodes to the same database, and let the proxy not cache.',
      )
    },
  },
  {
    id: 'lockout',
    sentence: 'A user is locked out after exactly the configured number of wrong passwords, over all nodes.',
    page: `${PASSWORDS}#lockout`,
    check: async site => {
      const limit = Number((await site.settings()).get(LOCKOUT_KEY))
      if (!(limit > 0)) return unchecked('lockout is switched off')
      if (limit > 20) return unchecked(`it takes ${limit} wrong passwords`)
      const { name } = await site.workshop.user()
      const guests = site.nodesFor(site.guest())
      const statuses: number[] = []
      for (let count = 0; count <= limit; count++) {
        const guest = guests[count % guests.length] ?? site.guest()
        statuses.push((await guest.guest().signIn(name, WRONG)).status)
      }
      const wrong = statuses.filter(status => status === 401).length
      return holds(
        wrong === limit && statuses.at(-1) === 429,
        `${wrong} answers of 401, then ${statuses.at(-1)}`,
        'Connect all nodes to one Redis (service.cluster.redis.url), so that they count together.',
      )
    },
  },
  {
    id: 'retry-after',
    sentence: 'A refusal that is over after some time says when (`Retry-After`).',
    page: 'errors.md',
    check: async site => {
      const limit = Number((await site.settings()).get(LOCKOUT_KEY))
      if (!(limit > 0 && limit <= 20)) return unchecked('lockout is switched off, or takes many attempts')
      const { name } = await site.workshop.user()
      let answer = await site.guest().signIn(name, WRONG)
      for (let count = 0; count < limit; count++) answer = await site.guest().signIn(name, WRONG)
      return holds(
        Number(answer.headers['retry-after']) > 0,
        `${tell(answer)}, Retry-After: ${answer.headers['retry-after'] ?? 'missing'}`,
        'Let the proxy pass Retry-After on.',
      )
    },
  },
  {
    id: 'client-address',
    sentence: 'The audit log has the address of the client, not that of the proxy.',
    page: PROXY,
    check: async site => {
      const { seen, answer } = await addressSeen(site, {})
      const [own, far] = [plainAddress(answer.localAddress), plainAddress(answer.remoteAddress)]
      if (isIP(seen) === 0) return broken(`the address is “${seen}”`, 'Let the proxy set X-Forwarded-For.')
      if (seen === own) return kept(seen)
      if (isPrivate(own) && !isPrivate(seen) && !isPrivate(far))
        return kept(`${seen}, by which this network is seen outside`)
      return broken(
        `${seen}, but this machine connects from ${own}`,
        'Let the proxy set X-Forwarded-For to the address of the client, and name the proxy in service.http.trusted-proxies.1.',
      )
    },
  },
  {
    id: 'forged-address',
    sentence: 'An address that a client invents in `X-Forwarded-For` is not believed.',
    page: PROXY,
    check: async site => {
      const { seen } = await addressSeen(site, {
        'x-forwarded-for': FORGED,
        forwarded: `for=${FORGED}`,
        'x-real-ip': FORGED,
      })
      return holds(
        seen !== FORGED,
        `the audit log has ${seen}`,
        'Let the proxy replace X-Forwarded-For, not add to it, and trust only the proxy in service.http.trusted-proxies.',
      )
    },
  },
  {
    id: 'audit-log',
    sentence: 'Each sign-in is in the audit log.',
    page: 'reference/audit-log.md',
    check: async site => {
      const person = await site.workshop.user()
      await site.signedIn(person)
      const trail = requireOk(await site.admin.ask(`management/audit?userId=${person.id}&event=login`), 'the audit log')
      return holds(
        trail.json<{ readonly events: readonly Event[] }>().events.length === 1,
        'one event for one sign-in',
        'Read the log of the service.',
      )
    },
  },
  {
    id: 'cross-site',
    sentence: 'A write that a page of another site sends is refused.',
    page: 'reference/behaviour.md',
    check: async site => {
      const client = await site.user()
      const answer = await client.ask('auth/tokens', {
        method: 'DELETE',
        json: { scope: 'others' },
        headers: { origin: 'https://forged.example', 'sec-fetch-site': 'cross-site' },
      })
      return holds(answer.status === 403, tell(answer), 'Let the proxy pass Origin and Sec-Fetch-Site on.')
    },
  },
  {
    id: 'cors',
    sentence: 'Pages of other sites cannot read what only the user may see.',
    page: 'configuration.md',
    check: async site => {
      const answer = await site.admin.ask('auth/user', { headers: { origin: 'https://forged.example' } })
      const isOpen =
        answer.headers['access-control-allow-origin'] === 'https://forged.example' &&
        answer.headers['access-control-allow-credentials'] === 'true'
      return holds(
        !isOpen,
        isOpen ? 'https://forged.example may read with credentials' : 'not allowed',
        'Remove CORS headers of the proxy; service.cors lists the origins.',
      )
    },
  },
  {
    id: 'jsonp',
    sentence: 'JSONP is always answered as the guest.',
    page: 'compatibility.md',
    check: async site => {
      const word = site.workshop.newName('word')
      const context = await site.context()
      const subject = site.admin.address(`${context}/resource/_newId`)
      const metadata = { [subject]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: word }] } }
      const entry = await site.workshop.entry(site.admin, context, { metadata })
      const answer = await site.admin.ask(`${context}/metadata/${entry}?callback=verify`)
      return holds(!answer.text.includes(word), tell(answer), 'Let the proxy add no callbacks of its own.')
    },
  },
  {
    id: 'guest',
    sentence: 'A guest cannot read what only users may.',
    page: 'concepts.md',
    check: async site => {
      const answer = await site.guest().ask((await site.file()).path)
      return holds(
        answer.status === 401 || answer.status === 403,
        tell(answer),
        'Let the proxy add no credentials, and let it not cache.',
      )
    },
  },
]
