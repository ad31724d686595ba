import { denied, isAdmin, requireSignedIn } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { UserCache } from '../../accounts/user-cache.ts'
import type { PasswordRules } from '../../accounts/password-rules.ts'
import type { Passwords } from '../../accounts/passwords.ts'
import type { SealedSecrets } from '../../accounts/sealed-secrets.ts'
import { digestOf } from '../../accounts/tokens.ts'
import { Conflict, InvalidInput, NotFound } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { CONTEXTS, type EntryKey } from '../../model/addresses.ts'
import { type EntryInContext, may, requireRight, requires } from '../../model/rights.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { Changes } from '../../content/changes.ts'
import { findEntryHead } from '../../content/entry-records.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { noteChange } from '../../stores/change-log.ts'
import { displayName } from '../../content/file-description.ts'
import {
  deleteDeadLinks,
  deleteLink,
  findLink,
  insertLink,
  linksBy,
  linksOf,
  type PublicLink,
  updateLink,
} from './link-rows.ts'
import { findCreator, findLinked, isLinkable, type LinkState, stateOf } from './link-state.ts'

interface Dependencies {
  readonly database: Database
  readonly changes: Changes
  readonly loader: EntryLoader
  readonly users: UserCache
  readonly passwords: Passwords
  readonly passwordRules: PasswordRules
  readonly secrets: SealedSecrets
  readonly system: System
}

/** The choices for a new link; a member that is left out sets no limit. */
export interface LinkRequest {
  /** A note for its creator. */
  readonly name?: string | undefined
  readonly password?: string | undefined
  readonly expires?: Milliseconds | undefined
  readonly maxDownloads?: number | undefined
}

/** A link as it is shown to users who may revoke it. */
export interface ListedLink {
  readonly link: PublicLink
  readonly state: LinkState
  /** Name of the file or folder, for callers who may read it. */
  readonly item: string | undefined
  /** Name of the user who created it. */
  readonly creator: string | undefined
}

const SECRET_BYTES = 32
const ID_BYTES = 9
const MAX_NAME = 100
const MAX_PER_ENTRY = 100
const MAX_DOWNLOADS = 1_000_000
/** How long an expired link stays in the lists. */
const EXPIRED_KEPT: Milliseconds = 30 * 86_400_000

const linking = requires('administer', 'create public links to this entry')

/** Public links: created, listed and revoked by users who administer the entry (D25.8). */
export class PublicLinks {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * @param read reads the wish, once the right has been checked
   * @returns the secret, which only its creator can read again @throws {InvalidInput} `invalid-type`, `invalid-value`, `password-rules`
   */
  async create(
    caller: Caller,
    key: EntryKey,
    read: () => Promise<LinkRequest>,
  ): Promise<{ readonly id: string; readonly secret: string }> {
    const { loader, changes, system, passwords, secrets } = this.#deps
    requireSignedIn(caller, 'create public links')
    const target = await loader.get(key)
    linking(caller, target)
    if (!isLinkable(target.entry)) throw new InvalidInput('invalid-type', 'Only files and folders have public links.')
    const wish = await read()
    this.#requireValid(wish)
    const password = wish.password === undefined ? undefined : await passwords.hash(wish.password)
    const bytes = system.randomBytes(SECRET_BYTES)
    const secret = Buffer.from(bytes).toString('base64url')
    const { context, id: entry, created: entryCreated } = target.entry
    const link: PublicLink = {
      id: Buffer.from(system.randomBytes(ID_BYTES)).toString('base64url'),
      place: { context, id: entry },
      entryCreated,
      name: wish.name === '' ? undefined : wish.name,
      password,
      expires: wish.expires,
      maxDownloads: wish.maxDownloads,
      downloads: 0,
      createdBy: caller.user.id,
      created: system.now(),
      lastUsed: undefined,
      sealed: await secrets.seal(bytes, caller.user.id),
    }
    await changes.run(caller, async writer => {
      await writer.recheck(target, linking)
      if ((await linksOf(writer.tx, link.place, entryCreated)).length >= MAX_PER_ENTRY) {
        throw new Conflict('conflict', `An entry has at most ${MAX_PER_ENTRY} public links. Revoke one first.`)
      }
      await insertLink(writer.tx, link, digestOf(secret))
      writer.record({ event: 'link-created', detail: detailOf(link) })
    })
    return { id: link.id, secret }
  }

  /** The links of one entry, the latest first, whoever created them. */
  async list(caller: Caller, key: EntryKey): Promise<ListedLink[]> {
    const target = await this.#deps.loader.get(key)
    requireRight(caller, 'administer', target, 'see the public links of this entry')
    const links = await linksOf(this.#deps.database, target.entry, target.entry.created)
    return await Promise.all(links.map(link => this.#listed(caller, link, target)))
  }

  /** The links that a user created; for administrators also those of another user, or of all users. */
  async listBy(
    caller: Caller,
    creator: string | undefined,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly items: readonly ListedLink[]; readonly results: number }> {
    if (creator !== caller.user.id && !isAdmin(caller)) throw denied(caller, 'see the public links of other users')
    const { links, results } = await linksBy(this.#deps.database, creator, page)
    const items: ListedLink[] = []
    for (const link of links) items.push(await this.#listed(caller, link, await findLinked(this.#deps.loader, link)))
    return { items, results }
  }

  /** For its creator and users who administer the entry. @throws {NotFound} also for a link that the caller may not revoke */
  async revoke(caller: Caller, id: string): Promise<void> {
    await this.#deps.changes.run(caller, async writer => {
      const link = await requireOwn(writer.tx, writer.caller, id)
      await deleteLink(writer.tx, id)
      await noteChange(writer.tx, `${link.place.context}/${link.place.id}`)
      writer.record({ event: 'link-revoked', userId: link.createdBy, detail: detailOf(link) })
    })
  }

  /**
   * Sets note, expiry and limit to the given values, and the password if one is given; an empty password removes it. Allowed for users who
   * may revoke the link. @throws {NotFound} as {@link revoke}
   */
  async change(caller: Caller, id: string, read: () => Promise<LinkRequest>): Promise<void> {
    const { changes, database, passwords } = this.#deps
    await requireOwn(database, caller, id)
    const wish = await read()
    const { password = '' } = wish
    this.#requireValid({ ...wish, password: password === '' ? undefined : password })
    const hash = password === '' ? undefined : await passwords.hash(password)
    await changes.run(caller, async writer => {
      const link = await requireOwn(writer.tx, writer.caller, id)
      const changed: PublicLink = {
        ...link,
        name: wish.name === '' ? undefined : wish.name,
        password: wish.password === undefined ? link.password : hash,
        expires: wish.expires,
        maxDownloads: wish.maxDownloads,
      }
      await updateLink(writer.tx, changed)
      await noteChange(writer.tx, `${link.place.context}/${link.place.id}`)
      writer.record({ event: 'link-changed', userId: link.createdBy, detail: detailOf(changed) })
    })
  }

  /** The secret, for the creator alone. @throws {NotFound} also where it cannot be read again */
  async secretOf(caller: Caller, id: string): Promise<string> {
    const link = await findLink(this.#deps.database, id)
    const isOwn = link?.createdBy === caller.user.id
    const secret = isOwn && link.sealed !== undefined && (await this.#deps.secrets.open(link.sealed, caller.user.id))
    if (!secret) throw noLink()
    return Buffer.from(secret).toString('base64url')
  }

  /** Deletes links that can never work again. */
  async expire(): Promise<void> {
    const { database, system } = this.#deps
    await deleteDeadLinks(database, system.now() - EXPIRED_KEPT)
  }

  async #listed(caller: Caller, link: PublicLink, target: EntryInContext | undefined): Promise<ListedLink> {
    const { users, system } = this.#deps
    const creator = await findCreator(users, link, caller.client)
    return {
      link,
      state: stateOf(link, target, creator, system.now()),
      item: target && may(caller, 'readmetadata', target) ? displayName(target.entry) : undefined,
      creator: (await users.find(link.createdBy))?.user.name,
    }
  }

  /** @throws {InvalidInput} `invalid-value`, `password-rules`, `password-too-long` */
  #requireValid({ name = '', password, expires, maxDownloads }: LinkRequest): void {
    if (name.length > MAX_NAME || /\p{C}/u.test(name)) {
      throw invalid(
        `\`name\` must have at most ${MAX_NAME} characters and no control characters, but is "${name.slice(0, 40)}".`,
      )
    }
    if (expires !== undefined && expires <= this.#deps.system.now()) {
      throw invalid(`\`expires\` must be a time in the future, but is ${new Date(expires).toJSON()}.`)
    }
    if (maxDownloads !== undefined && (maxDownloads < 1 || maxDownloads > MAX_DOWNLOADS)) {
      throw invalid(`\`maxDownloads\` must be a whole number from 1 to ${MAX_DOWNLOADS}, but is ${maxDownloads}.`)
    }
    if (password !== undefined) this.#deps.passwordRules.require(password, [])
  }
}

/** @throws {NotFound} also for a link that the caller may not revoke */
async function requireOwn(queries: Queries, caller: Caller, id: string): Promise<PublicLink> {
  const link = await findLink(queries, id)
  if (link && (await mayRevoke(queries, caller, link))) return link
  throw noLink()
}

async function mayRevoke(
  queries: Queries,
  caller: Caller,
  { createdBy, place, entryCreated }: PublicLink,
): Promise<boolean> {
  if (createdBy === caller.user.id || isAdmin(caller)) return true
  const entry = await findEntryHead(queries, place)
  const contextEntry = await findEntryHead(queries, { context: CONTEXTS, id: place.context })
  if (!entry || !contextEntry || entry.created !== entryCreated) return false
  return may(caller, 'administer', { entry, contextEntry })
}

const noLink = (): NotFound => new NotFound('not-found', 'There is no public link with this ID.')

const invalid = (detail: string): InvalidInput => new InvalidInput('invalid-value', detail)

const detailOf = ({ id, place, password, expires, maxDownloads }: PublicLink): Record<string, string | number> => ({
  link: id,
  context: place.context,
  entry: place.id,
  password: password === undefined ? 'no' : 'yes',
  ...(expires === undefined ? {} : { expires: new Date(expires).toJSON() }),
  ...(maxDownloads === undefined ? {} : { maxDownloads }),
})
