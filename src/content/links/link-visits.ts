import type { Audit } from '../../accounts/audit.ts'
import { type Caller, networkOf, type UserCache } from '../../accounts/caller.ts'
import { type Counted, LINK_PREFIX, type Lockout } from '../../accounts/lockout.ts'
import { type Passwords, requirePasswordShape } from '../../accounts/passwords.ts'
import type { Client } from '../../accounts/sessions.ts'
import { digestOf } from '../../accounts/tokens.ts'
import { Forbidden, NotFound } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { findFile } from '../../files/file-records.ts'
import { type Entry, holdsFile, isList } from '../../model/entry.ts'
import { type EntryInContext, may } from '../../model/rights.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import type { Database } from '../../stores/database.ts'
import type { EntryLoader } from '../entry-loader.ts'
import { findEntry } from '../entry-records.ts'
import { displayName, fileNameOf, mediaTypeOf } from '../file-description.ts'
import { membershipOf, trustedListMembers } from '../list-records.ts'
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
  /** Counts wrong passwords for one link from one network, and for one link from everywhere. */
  readonly linkLockouts: { readonly ofNetwork: Lockout; readonly ofLink: Lockout }
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

  constructor(deps: Dependencies) {
    this.#deps = deps
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

  /**
   * The entry with this id, if it is what the link opens, or lies in it.
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

  /** Some of what lies in a folder, in its order; not what was added by people who did not administer it. `next` is the offset to go on at; absent at the end. */
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
    const { linkLockouts, passwords, audit } = this.#deps
    if (password === undefined || password === '') {
      throw new Forbidden('link-password-required', 'This link has a password.')
    }
    requirePasswordShape(password)
    const network = networkOf(client.address)
    const verify = (): Promise<boolean> => passwords.verify(password, link.password, { of: network })
    const { right } = await linkLockouts.ofLink.attempt(countedUnder(link), async () => {
      const { right } = await linkLockouts.ofNetwork.attempt(countedUnder(link, network), verify)
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

const countedUnder = ({ id }: PublicLink, network = ''): Counted => ({ key: `${LINK_PREFIX}${id}:${network}` })

/** One refusal for what never existed, was revoked, or whose file or right is gone. */
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
 * What a visitor shows from the second request on: the secret, and a MAC by it of the stored password. Only a visitor who knew
 * the password, or has a key of one who did, has the right MAC, because the stored hash is secret. Nothing is stored for it, and it ends
 * with the link.
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
