import { InvalidInput } from '../../base/errors.ts'
import type { SettingsOf } from '../../config/settings.ts'
import type { LinkTraversal } from './linked-metadata.ts'
import { MAX_DEPTH, MAX_ENTRIES } from './limits.ts'
import { type Link, readLink } from './links.ts'
import type { traversalSettings } from './settings.ts'

type TraversalSettings = SettingsOf<(typeof traversalSettings)['rows']>

/** The traversal that a request asks for. */
export interface Wanted {
  /** Names of profiles and predicates, with commas between them. */
  readonly recursive: string
  readonly depth: number
  readonly scope: 'all' | 'context' | undefined
}

/** From a catalog, a dataset or a service (DCAT 3) to everything that describes it, but not back or to other datasets. */
const dcat = [
  'dcat:catalog',
  'dcat:dataset',
  'dcat:service',
  'dcat:record',
  'dcat:distribution',
  'dcat:accessService',
  'dcat:inSeries',
  'dcat:contactPoint',
  'adms:sample',
  'dcterms:publisher',
  'dcterms:creator',
  'dcterms:conformsTo',
  'foaf:page',
].flatMap(name => readLink(name) ?? [])

/**
 * The traversal that a request names. Of several profiles the narrowest limits count.
 * @throws {InvalidInput} `invalid-query` for a name that is neither a profile nor a predicate
 */
export function traversalOf(settings: TraversalSettings, { recursive, depth, scope }: Wanted): LinkTraversal {
  const names = recursive.split(',').flatMap(name => name.trim() || [])
  const links: Link[] = []
  const profiles: string[] = []
  for (const name of names) {
    const ofProfile = linksOf(settings, name)
    const own = ofProfile === undefined ? readLink(name) : undefined
    if (ofProfile) profiles.push(name)
    links.push(...(ofProfile ?? (own ? [own] : refuse(settings, name))))
  }
  if (links.length === 0) refuse(settings, '')
  const least = (
    key: 'service.traversal.max-depth.<profile>' | 'service.traversal.limit.<profile>',
    otherwise: number,
  ) => Math.min(otherwise, ...profiles.flatMap(name => settings[key].get(name) ?? []))
  const isWithin = profiles.some(name => settings['service.traversal.scope.<profile>'].get(name) === 'context')
  return {
    links,
    depth: least('service.traversal.max-depth.<profile>', Math.min(depth, MAX_DEPTH)),
    limit: least('service.traversal.limit.<profile>', MAX_ENTRIES),
    withinContext: scope === undefined ? isWithin : scope === 'context',
    stops: profiles.flatMap(name => valuesOf(settings['service.traversal.stop.<profile>'], name)),
  }
}

/** `undefined` where there is no such profile. */
function linksOf(settings: TraversalSettings, name: string): readonly Link[] | undefined {
  const found = valuesOf(settings['service.traversal.predicates.<profile>'], name).flatMap(({ links }) => links)
  if (found.length > 0) return found
  return name === 'dcat' ? dcat : undefined
}

/** The values of the keys of a profile: its name, and its name with a number. */
const valuesOf = <T>(map: ReadonlyMap<string, T>, name: string): T[] =>
  [...map].filter(([key]) => profileOf(key) === name).map(([, value]) => value)

const profileOf = (key: string): string => key.replace(/\.\d+$/, '')

function refuse(settings: TraversalSettings, name: string): never {
  const known = [...settings['service.traversal.predicates.<profile>'].keys()].map(profileOf)
  const profiles = [...new Set(['dcat', ...known])].join(', ')
  const given = name.slice(0, 40)
  throw new InvalidInput(
    'invalid-query',
    `\`recursive\` must have profiles (${profiles}) or predicates (IRIs, or short forms such as dcterms:relation) with commas between them, but has "${given}".`,
  )
}
