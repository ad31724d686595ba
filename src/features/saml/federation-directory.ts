import { type FederationEntity, HIDE_FROM_DISCOVERY } from './federation-entity.ts'

/** The part of an entity that the discovery page searches. */
export interface ListedEntity extends Pick<FederationEntity, 'entityId' | 'names' | 'scopes' | 'categories'> {
  /** The searched text, folded: names, keywords and domains each begin after a line break, and words after a blank. */
  readonly words: string
  /** Its place in a list. */
  readonly sortedBy: string
}

/** Made on the worker thread, since folding the words of thousands takes a while. */
export function listedEntity(entity: FederationEntity): ListedEntity {
  const { entityId, names, keywords, scopes, categories } = entity
  const host = URL.canParse(entityId) ? new URL(entityId).hostname : ''
  const words = [...Object.values(names), keywords, ...scopes, host].map(text => `\n ${fold(text).trim()} `).join('')
  return { entityId, names, scopes, categories, words, sortedBy: fold(nameFor(entity, ['en']).name) }
}

/** The search of a user. */
export interface DirectoryQuestion {
  /** Words of a name, a keyword or a domain; none: only the {@link entityIds} are returned. */
  readonly text?: string | undefined
  /** The domain of an e-mail address: finds providers that publish it as a scope. */
  readonly domain?: string | undefined
  /** Only these: the choices that a browser remembers. */
  readonly entityIds?: readonly string[] | undefined
  /** Languages that the user reads, the preferred one first. */
  readonly languages: readonly string[]
}

/** A provider as users see it. */
export interface DirectoryHit {
  readonly entityId: string
  readonly name: string
  /** The language of the name, where it is known. */
  readonly language: string | undefined
  readonly domain: string | undefined
}

export interface DirectoryHits {
  readonly hits: readonly DirectoryHit[]
  /** There are more than are returned. */
  readonly hasMore: boolean
}

const MAX_HITS = 50
const MAX_CHARACTERS = 100
const MAX_WORDS = 8
/** Each is looked for in the names of each provider that is shown. */
const MAX_LANGUAGES = 20

/** The providers of one federation that users can choose, in memory: about 1 KB for each. */
export class FederationDirectory {
  /** By name. */
  readonly #entries: readonly ListedEntity[]
  readonly #byId: ReadonlyMap<string, ListedEntity>

  /** @param required only providers with all of these categories are offered */
  constructor(listed: Iterable<ListedEntity>, required: readonly string[]) {
    const offered = [...listed].filter(
      ({ categories }) =>
        !categories.includes(HIDE_FROM_DISCOVERY) && required.every(category => categories.includes(category)),
    )
    offered.sort((a, b) => (a.sortedBy < b.sortedBy ? -1 : a.sortedBy > b.sortedBy ? 1 : 0))
    this.#entries = offered
    this.#byId = new Map(offered.map(one => [one.entityId, one]))
  }

  get size(): number {
    return this.#entries.length
  }

  /** One pass over the words of all providers; names that begin with what was typed come first. */
  search({ text, domain, entityIds, languages }: DirectoryQuestion): DirectoryHits {
    const found =
      entityIds?.flatMap(id => this.#byId.get(id) ?? []) ??
      (domain === undefined ? this.#matching(text ?? '') : this.#ofDomain(domain.toLowerCase()))
    const hits = found.slice(0, MAX_HITS).map(listed => {
      const { name, language } = nameFor(listed, languages.slice(0, MAX_LANGUAGES))
      return { entityId: listed.entityId, name, language, domain: listed.scopes[0] }
    })
    return { hits, hasMore: found.length > MAX_HITS }
  }

  #ofDomain(domain: string): ListedEntity[] {
    return this.#entries.filter(({ scopes }) => scopes.includes(domain))
  }

  #matching(text: string): ListedEntity[] {
    const whole = fold(text.slice(0, MAX_CHARACTERS)).trim()
    const wanted = whole.split(' ').filter(word => word !== '')
    if (wanted.length === 0 || wanted.length > MAX_WORDS) return []
    const [begins, inside]: [ListedEntity[], ListedEntity[]] = [[], []]
    for (const entry of this.#entries) {
      if (!wanted.every(word => entry.words.includes(` ${word}`))) continue
      const list = entry.words.includes(`\n ${whole}`) ? begins : inside
      list.push(entry)
    }
    return [...begins, ...inside]
  }
}

/** Lower case, without accents, with single blanks between words, so that `zurich` finds `Universität Zürich`. */
const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}.@-]+/gu, ' ')

/** In the first language of the user that it has, then in English, then in any. */
function nameFor(
  { entityId, names, scopes }: Pick<ListedEntity, 'entityId' | 'names' | 'scopes'>,
  languages: readonly string[],
): { readonly name: string; readonly language: string | undefined } {
  for (const language of [...languages, 'en', '']) {
    const wanted = language.toLowerCase()
    const base = wanted.split('-')[0] ?? ''
    const found = [wanted, base].find(tag => Object.hasOwn(names, tag))
    if (found !== undefined) return { name: names[found] ?? '', language: found === '' ? undefined : found }
  }
  const [first] = Object.entries(names)
  if (first) return { name: first[1], language: first[0] }
  return { name: scopes[0] ?? entityId, language: undefined }
}
