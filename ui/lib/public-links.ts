import { ask, Problem } from './api.ts'
import { part } from './base.ts'

export const linkStates = ['active', 'expired', 'used-up', 'gone'] as const

/** A public link as those see it who may revoke it. */
export interface PublicLink {
  readonly id: string
  readonly contextId: string
  readonly entryId: string
  /** Name of the file or folder, where the user may read it. */
  readonly item?: string
  readonly name?: string
  readonly hasPassword: boolean
  readonly expires?: string
  readonly maxDownloads?: number
  readonly downloads: number
  readonly state: (typeof linkStates)[number]
  readonly created: string
  readonly createdBy: { readonly id: string; readonly name?: string }
  readonly lastUsed?: string
}

export interface NewPublicLink {
  readonly name?: string
  readonly password?: string
  readonly expires?: string
  readonly maxDownloads?: number
}

export interface LinkPage {
  readonly items: readonly PublicLink[]
  readonly results: number
}

/** @returns `undefined` where the service has public links switched off @throws {Problem} */
async function unlessOff<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined
    throw error
  }
}

const pathOf = (context: string, entry: string): string => `${part(context)}/links/${part(entry)}`

/** The links of one file or folder; `undefined` where links are off. @throws {Problem} */
export const loadLinksOf = async (
  context: string,
  entry: string,
  signal: AbortSignal,
): Promise<readonly PublicLink[] | undefined> =>
  (await unlessOff(ask<{ readonly items: readonly PublicLink[] }>(pathOf(context, entry), { signal })))?.items

/** The user's own links, or those of all users; `undefined` where links are off. @throws {Problem} */
export const loadLinks = (
  { isAll, offset, limit }: { readonly isAll: boolean; readonly offset: number; readonly limit: number },
  signal: AbortSignal,
): Promise<LinkPage | undefined> =>
  unlessOff(ask<LinkPage>(`auth/links?limit=${limit}&offset=${offset}${isAll ? '&all=true' : ''}`, { signal }))

/** @returns the address to send @throws {Problem} */
export const createLink = async (context: string, entry: string, wish: NewPublicLink): Promise<string> =>
  (await ask<{ readonly url: string }>(pathOf(context, entry), { method: 'POST', json: wish })).url

/** The address to send, for the creator. @throws {Problem} 404 also for links of older versions, whose address nobody can read again */
export const loadLinkUrl = async (id: string): Promise<string> =>
  (await ask<{ readonly url: string }>(`auth/links/${part(id)}`)).url

/** What is left out is removed, but for the password, which stays. @throws {Problem} */
export const changeLink = (id: string, wish: NewPublicLink): Promise<undefined> =>
  ask(`auth/links/${part(id)}`, { method: 'PUT', json: wish })

/** @throws {Problem} */
export const revokeLink = (id: string): Promise<undefined> => ask(`auth/links/${part(id)}`, { method: 'DELETE' })

/** A file or folder behind a link, as visitors see it. */
export interface LinkedItem {
  readonly id: string
  readonly name: string
  readonly kind: 'file' | 'folder'
  readonly size?: number
  readonly mediaType?: string
  readonly modified: string
}

/** A link that a visitor has opened. */
export interface OpenedLink {
  readonly link: string
  readonly item: LinkedItem
  readonly expires?: string
  readonly downloadsLeft?: number
}

/** @throws {Problem} */
export const openLink = (secret: string, password?: string): Promise<OpenedLink> =>
  ask<OpenedLink>('auth/link', { method: 'POST', json: { secret, ...(password === undefined ? {} : { password }) } })

export interface LinkedItems {
  readonly items: readonly LinkedItem[]
  /** Where the next ones begin. */
  readonly next?: number
}

/** @throws {Problem} */
export const loadLinked = (link: string, folder: string, offset: number, signal: AbortSignal): Promise<LinkedItems> =>
  ask<LinkedItems>(`auth/link/${part(link)}/members?folder=${part(folder)}&limit=100&offset=${offset}`, { signal })

/** Below the base address. */
export const linkedFile = (link: string, id: string): string => `auth/link/${part(link)}/files/${part(id)}`
export const linkedZip = (link: string, folder: string): string => `auth/link/${part(link)}/zip?folder=${part(folder)}`
