import Negotiator from 'negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type PageContext, pageHeaders } from './pages/html.ts'
import type { Catalogues, Words } from './pages/messages.ts'
import type { BaseAddress } from './base-address.ts'
import type { Coding } from './protocol/negotiate.ts'

/** What a page of the service is made with and how it is sent: its context, its headers, the files of the built interface. */

interface PageServices {
  readonly base: BaseAddress
  readonly ui: UiAssets
}

function requireEnglish({ words: { en } }: UiAssets): Words {
  if (en) return en
  throw new Error('there are no English words')
}

/** The texts of the service's own pages and mails in one language. */
export interface LanguageWords {
  readonly language: string
  readonly words: Words
}

/** The texts for the first of these preferences (in the form of `Accept-Language`) that names a known language, else in English. */
export function wordsFor(ui: UiAssets, preferences: ReadonlyArray<string | undefined>): LanguageWords {
  const known = Object.keys(ui.words)
  const language = preferences
    .filter(preference => preference !== undefined)
    .flatMap(preference => new Negotiator({ headers: { 'accept-language': preference } }).languages(known))[0]
  const words = language === undefined ? undefined : ui.words[language]
  return { language: language ?? 'en', words: words ?? requireEnglish(ui) }
}

/** What every page needs: the language by `Accept-Language`, and the addresses of style and pictures. */
export function pageContext({ base, ui }: PageServices, request: FastifyRequest): PageContext {
  return {
    ...wordsFor(ui, [request.headers['accept-language']]),
    style: base.at(assetPath(ui.names.style)),
    icon: base.at(assetPath(ui.names.icon)),
    script: base.at(assetPath(ui.names.login)),
    home: base.at('auth/login'),
    application: base.at('ui/'),
  }
}

/** Sends a whole page; the headers are those of a page whose forms go to the service itself. */
export const sendPage = (
  reply: FastifyReply,
  page: string,
  headers: Readonly<Record<string, string>> = pageHeaders,
): FastifyReply => reply.type('text/html; charset=utf-8').headers(headers).send(page)

/** A file of the user interface, as it is sent. */
export interface Asset {
  readonly mediaType: string
  /** In which codings it was compressed at build time. */
  readonly codings: readonly Coding[]
  /** Responses that are being sent share one copy. */
  read(coding?: Coding): Promise<Buffer>
}

/** A page of the application, and what browsers fetch for it together with the script (`ui/preloads.ts`). */
interface PreloadedPage {
  /** Its path; a segment that begins with a colon stands for any name or id. */
  readonly pattern: string
  readonly scripts: readonly string[]
  /** Paths relative to the base address; `{context}` stands for that segment of the path. */
  readonly data: readonly string[]
}

/** The built user interface. Names contain a hash of the content, so the content of a name never changes. */
export interface UiAssets {
  /** Names of the files that pages request. */
  readonly names: {
    /** The script of the application. */
    readonly app: string
    /** The script of the sign-in page. */
    readonly login: string
    /** The script of the page that draws PDF documents. */
    readonly pdf: string
    readonly style: string
    readonly icon: string
    /** The texts of the application, by language. */
    readonly languages: Readonly<Record<string, string>>
    /** Files that pages need at once when people open them directly. */
    readonly pages: readonly PreloadedPage[]
  }
  readonly files: ReadonlyMap<string, Asset>
  /** The words of the pages that the service makes itself. */
  readonly words: Catalogues
}

/** Where a file of the user interface is, from the base address on. */
export const assetPath = (name: string): string => `ui/assets/${name}`

/**
 * Scripts and requests that the page at this path of the application needs at once; nothing for other pages. Requests with unusual characters in
 * the path are left to the script.
 */
export function preloadsOf({ names: { pages } }: UiAssets, path: string): Pick<PreloadedPage, 'scripts' | 'data'> {
  const given = path.split('/')
  for (const { pattern, scripts, data } of pages) {
    const wanted = pattern.split('/')
    if (wanted.length !== given.length) continue
    const parts = new Map<string, string>()
    const isMatch = wanted.every((name, index) => {
      const segment = given[index] ?? ''
      if (!name.startsWith(':')) return name === segment
      parts.set(name.slice(1), segment)
      return SIMPLE_SEGMENT.test(segment)
    })
    if (isMatch)
      return { scripts, data: data.map(url => url.replace(/\{(\w+)\}/g, (_, name: string) => parts.get(name) ?? '')) }
  }
  return { scripts: [], data: [] }
}

/** Needs no encoding in a path. */
const SIMPLE_SEGMENT = /^[\w-]+$/
