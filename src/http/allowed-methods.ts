import { methods, type BoundRoute } from './bound-route.ts'

/** The methods of an address in one order, however its routes are declared. */
export function allowedMethods(routes: ReadonlyArray<Pick<BoundRoute, 'method'>>): string[] {
  const allowed: string[] = methods.filter(method => routes.some(route => route.method === method))
  return allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed
}

interface KnownAddress {
  readonly segments: readonly string[]
  readonly isOnContentOrigin: boolean
  readonly allowed: readonly string[]
}

/**
 * Finds the methods of an address, for requests with a method that no route has (PROPFIND, LOCK …). A route for each of these methods
 * at each address would take a tenth of a second at every start, and two megabytes.
 */
export class KnownAddresses {
  /** The most specific address first: at each part of the path, a name comes before a parameter. */
  readonly #known: readonly KnownAddress[]

  constructor(routes: ReadonlyArray<Pick<BoundRoute, 'method' | 'url' | 'onContentOrigin'>>) {
    const urls = [...new Set(routes.map(({ url }) => url))].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    this.#known = urls.map(url => {
      const some = routes.filter(route => route.url === url)
      return {
        segments: url.split('/'),
        isOnContentOrigin: some[0]?.onContentOrigin === true,
        allowed: allowedMethods(some),
      }
    })
  }

  /** @param path without the query. Returns `undefined` if no route has this address. */
  find(path: string, isOnContentOrigin: boolean): readonly string[] | undefined {
    const given = path.split('/').map(decoded)
    const isHere = (known: KnownAddress): boolean =>
      known.isOnContentOrigin === isOnContentOrigin && matches(known.segments, given)
    return this.#known.find(isHere)?.allowed
  }
}

const rank = (url: string): string => url.split('/').map(rankOfSegment).join('/')

const rankOfSegment = (segment: string): string =>
  segment === '*' ? '2' : segment.startsWith(':') ? '1' : `0${segment}`

function matches(segments: readonly string[], given: readonly string[]): boolean {
  const isOpen = segments.at(-1) === '*'
  if (isOpen ? given.length < segments.length : given.length !== segments.length) return false
  return segments.every((segment, index) => segment === '*' || segment.startsWith(':') || segment === given[index])
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
