import type { Audit } from '../../accounts/audit.ts'
import type { Caller } from '../../accounts/caller.ts'
import { networkOf } from '../../accounts/network.ts'
import type { UserCache } from '../../accounts/user-cache.ts'
import type { LockoutKey, Lockout } from '../../accounts/lockout.ts'
import { type Passwords, requirePasswordShape } from '../../accounts/passwords.ts'
import type { Client } from '../../accounts/sessions.ts'
import { digestOf } from '../../accounts/tokens.ts'
import { Forbidden, NotFound } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { findFile } from '../../files/file-records.ts'
import { type Entry, holdsFile, isList } from '../../model/entry.ts'
import { type EntryInContext, may } from '../../model/rights.ts'
import { PRINCIPALS } from '../../model/addresses.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import type { Database } from '../../stores/database.ts'
import { EntryLoader } from '../../content/entry-loader.ts'
import { findEntry } from '../../content/entry-records.ts'
import { displayName, fileNameOf, mediaTypeOf } from '../../content/file-description.ts'
import { membershipOf, trustedListMembers } from '../../content/list-records.ts'
import { countDownload, findKeyedLink, type KeyedLink, type PublicLink } from './link-rows.ts'
import { findCreator, findLinked, isLinkable, limitOf, stateOf } from './link-state.ts'
import { createHmac, timingSafeEqual } from 'node:crypto'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly users: UserCache
  readonly passwords: Passwords
  readonly audit: Audit
  readonly system: System
  /** Counts wrong passwords for one link from one network. */
  readonly lockout: Lockout
}

/** A visitor at a public link that works now. */
export interface Visit extends EntryInContext {
  readonly link: PublicLink
  /** The creator of the link, whose rights the visit has; the address is the visitor's. */
  readonly creator: Caller
}

/** A file or folder as visitors see it. */
export interface LinkedItem {
  readonly id: string
  readonly name: string
  readonly kind: 'file' | 'folder'
  /** Absent for a folder, and for an entry without a file. */
  readonly size: Bytes | undefined
  readonly mediaType: string | undefined
  readonly modified: Milliseconds
}

/** Stops at this depth: nobody files so deep, and each step is a query. */
const MAX_DEPTH = 100

/** What people without an account do with a public link (D25.9 to D25.12). A link that does not work is refused in the same way everywhere. */
export class LinkVisits {
  readonly #deps: Dependencies
  /** Strangers from many networks guess slowly too; a single network must not lock all others out. */
  readonly #lockoutOfLink: Lockout

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#lockoutOfLink = deps.lockout.withMoreAttempts(10)
  }

  /**
   * Opens a link by its secret, and by the password if it has one.
   * @returns the visit, and the key for the following requests
   * @throws {NotFound} `link-gone`, `link-expired`, `link-used-up` @throws {Forbidden} `link-password-required`,
   * `link-password-wrong` @throws {LockedOut} @throws {Overloaded}
   */
  async open(
    secret: string,
    password: string | undefined,
    client: Client,
  ): Promise<{ readonly visit: Visit; readonly key: string }> {
    const found = isSecret(secret) ? await findKeyedLink(this.#deps.database, { digest: digestOf(secret) }) : undefined
    if (!found) throw gone()
    const visit = await this.#visit(found, client)
    if (found.link.password !== undefined) await this.#requirePassword(found.link, password, client)
    return { visit, key: keyOf(secret, found.link.password) }
  }

  /** @param key from an earlier {@link open} @throws {NotFound} as `open` does */
  async enter(id: string, key: string | undefined, client: Client): Promise<Visit> {
    // Without a key nothing is looked up: ids are no secret, and reveal nothing.
    if (key === undefined || secretOf(key) === undefined) throw gone()
    const found = await findKeyedLink(this.#deps.database, { id })
    if (!found || !opensLink(key, found.digest, found.link.password)) throw gone()
    return await this.#visit(found, client)
  }

  /**
   * The entry with this id behind a link that was entered with its key some minutes ago.
   * @throws {NotFound} when the link has ended since, or no longer leads there
   */
  async reopen(linkId: string, id: string, client: Client): Promise<Entry> {
    const found = await findKeyedLink(this.#deps.database, { id: linkId })
    if (!found) throw gone()
    return await this.entry(await this.#visit(found, client), id)
  }

  /** The creator as they are now, whose rights a visit has; absent when the link has ended. A zip takes long. */
  async presentCreator({ link, creator }: Visit): Promise<Caller | undefined> {
    const present = await findKeyedLink(this.#deps.database, { id: link.id })
    if (!present || (present.link.expires ?? Number.POSITIVE_INFINITY) <= this.#deps.system.now()) return undefined
    const placed = await findLinked(this.#deps.loader, link)
    const known = await findCreator(this.#deps.users, link, creator.client)
    // The download that is running may be the last that the limit allows.
    const state = stateOf({ ...present.link, maxDownloads: undefined }, placed, known, this.#deps.system.now())
    return state === 'active' ? known : undefined
  }

  /** {@link recheck} of a link that was entered some time ago. @throws {NotFound} */
  async recheckLink(linkId: string, id: string, client: Client): Promise<readonly string[]> {
    const found = await findKeyedLink(this.#deps.database, { id: linkId })
    if (!found) throw gone()
    return await this.recheck(await this.#visit(found, client), id)
  }

  /**
   * Checks again whether a visitor may go on reading an entry through the link.
   * @returns the names in the change log on which the result depends @throws {NotFound}
   */
  async recheck(visit: Visit, id: string): Promise<readonly string[]> {
    const { link } = visit
    const creator = await this.presentCreator(visit)
    const placed = await findLinked(this.#deps.loader, link)
    if (!creator || !placed) throw gone()
    const entry = await this.entry({ ...visit, ...placed, creator }, id)
    const subjects = [placed.entry, entry].flatMap(one => EntryLoader.subjectsOf({ ...placed, entry: one }))
    return [...subjects, `${PRINCIPALS}/${link.createdBy}`]
  }

  /**
   * The entry with this id, if it is the linked entry or inside it.
   * @throws {NotFound} for every other entry, whether it exists or not
   */
  async entry(visit: Visit, id: string): Promise<Entry> {
    const { entry: root, contextEntry, creator } = visit
    if (id === root.id) return root
    const { database } = this.#deps
    const isBelow = isList(root) && (await this.#isBelow(root, id))
    const entry = isBelow ? await findEntry(database, { context: root.context, id }) : undefined
    if (!entry || !isLinkable(entry) || !may(creator, 'readresource', { entry, contextEntry })) {
      throw new NotFound('not-found', 'There is no such file or folder behind this link.')
    }
    return entry
  }

  /**
   * A page of the members of a folder, in their order, without members that were added by people who did not administer them. `next` is the
   * offset of the next page; absent at the end.
   */
  async members(
    visit: Visit,
    folder: Entry,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly items: readonly LinkedItem[]; readonly next: number | undefined }> {
    const { database, loader } = this.#deps
    const { creator, contextEntry } = visit
    const ids = isList(folder) ? await trustedListMembers(database, folder, { limit: limit + 1, offset }) : []
    const budget = ResponseBudget.forMany()
    const items: LinkedItem[] = []
    for (const id of ids.slice(0, limit)) {
      const entry = await loader.toShow({ context: folder.context, id }, budget)
      if (!entry || !isLinkable(entry) || !may(creator, 'readresource', { entry, contextEntry })) continue
      items.push(await this.describe(visit, entry))
    }
    return { items, next: ids.length > limit ? offset + limit : undefined }
  }

  async describe({ creator, contextEntry }: Visit, entry: Entry): Promise<LinkedItem> {
    const { id, modified } = entry
    if (holdsFile(entry)) {
      const file = await findFile(this.#deps.database, entry)
      const mediaType = file && mediaTypeOf(entry)
      return { id, name: fileNameOf(entry), kind: 'file', size: file?.size, mediaType, modified }
    }
    // The title of a folder is in its metadata.
    const name = may(creator, 'readmetadata', { entry, contextEntry }) ? displayName(entry) : id
    return { id, name, kind: 'folder', size: undefined, mediaType: undefined, modified }
  }

  /**
   * Counts a download before its first byte is sent. Exact: parallel requests never get more than the limit (D25.11).
   * @throws {NotFound} `link-used-up`, `link-expired`, `link-gone`
   */
  async count({ link, creator }: Visit, entry: Entry): Promise<void> {
    const { database, system, audit } = this.#deps
    const isLimited = link.maxDownloads !== undefined
    const counted = await database.transaction(
      tx => countDownload(tx, link.id, system.now()),
      isLimited ? {} : { durability: 'relaxed' },
    )
    if (!counted) throw refusalOf((await findKeyedLink(database, { id: link.id }))?.link, system.now())
    const detail = { link: link.id, context: entry.context, entry: entry.id }
    await audit.record({ event: 'link-used', address: creator.client.address, detail })
  }

  async #visit({ link }: KeyedLink, client: Client): Promise<Visit> {
    const { loader, users, system } = this.#deps
    const placed = await findLinked(loader, link)
    const creator = await findCreator(users, link, client)
    const state = stateOf(link, placed, creator, system.now())
    if (state !== 'active' || !placed || !creator) throw refusalOf(state === 'gone' ? undefined : link, system.now())
    return { ...placed, link, creator }
  }

  async #requirePassword(link: PublicLink, password: string | undefined, client: Client): Promise<void> {
    const { lockout, passwords, audit } = this.#deps
    if (password === undefined || password === '') {
      throw new Forbidden('link-password-required', 'This link has a password.')
    }
    requirePasswordShape(password)
    const network = networkOf(client.address)
    const verify = (): Promise<boolean> => passwords.verify(password, link.password, { of: network })
    const { right } = await this.#lockoutOfLink.attempt(linkLockoutKey(link), async () => {
      const { right } = await lockout.attempt(linkLockoutKey(link, network), verify)
      return right
    })
    if (right) return
    const detail = { link: link.id, context: link.place.context, entry: link.place.id, why: 'password' }
    await audit.record({ event: 'link-refused', address: client.address, detail })
    throw new Forbidden('link-password-wrong', 'The password is wrong.')
  }

  /** Whether the entry lies in the list, at any depth, put there by people who can share it. */
  async #isBelow(root: Entry, id: string): Promise<boolean> {
    const { context } = root
    let holding: string | undefined = id
    for (let depth = 0; depth < MAX_DEPTH && holding !== undefined; depth++) {
      const membership = await membershipOf(this.#deps.database, { context, id: holding })
      holding = membership?.isTrusted ? membership.list : undefined
      if (holding === root.id) return true
    }
    return false
  }
}

/** Creating such a key needs the secret of a link, but it can be done from any number of networks. */
const COUNT_PREFIX = 'lockout:link:'

export const capacity = [{ prefix: COUNT_PREFIX, max: 100_000 }]

const linkLockoutKey = ({ id }: PublicLink, network = ''): LockoutKey => ({ key: `${COUNT_PREFIX}${id}:${network}` })

/** The same refusal for a link that never existed, that was revoked, or whose file or right no longer exists. */
const gone = (): NotFound =>
  new NotFound('link-gone', 'This link does not exist or no longer works. Ask the person who sent it for a new one.')

function refusalOf(link: PublicLink | undefined, now: number): NotFound {
  const limit = link && limitOf(link, now)
  if (limit === 'expired') return new NotFound('link-expired', 'This link has expired.')
  if (limit === 'used-up') return new NotFound('link-used-up', 'This link has reached its number of downloads.')
  return gone()
}

/** 256 bits in base64url, in a secret as in a MAC. */
const LENGTH = 43

/** Whether a text has the form of a secret; others are not looked up. */
export const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)

/**
 * The key that a visitor sends from the second request on: the secret of the link, and a MAC of the stored password under this secret. The
 * stored hash is secret, so only visitors who knew the password, or got the key from such a visitor, have the right MAC. The key is not
 * stored, and is valid as long as the link.
 */
export const keyOf = (secret: string, password: string | undefined): string => secret + macOf(secret, password)

/** The secret in a key; `undefined` if the text is no key. */
const secretOf = (key: string): string | undefined =>
  key.length === 2 * LENGTH && isSecret(key.slice(0, LENGTH)) ? key.slice(0, LENGTH) : undefined

/** @param digest of the secret of the link @param password the stored hash of its password */
function opensLink(key: string, digest: string, password: string | undefined): boolean {
  const secret = secretOf(key)
  return secret !== undefined && isSame(digestOf(secret), digest) && isSame(key, keyOf(secret, password))
}

const macOf = (secret: string, password = ''): string =>
  createHmac('sha256', secret).update(password).digest('base64url')

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
