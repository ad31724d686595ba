import type { Caller } from '../../accounts/caller.ts'
import { NotFound } from '../../base/errors.ts'
import type { SettingsOf } from '../../config/settings.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import type { ReadMetadata } from '../../content/metadata.ts'
import type { EntryKey } from '../../model/addresses.ts'
import { requireRight } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import { linkedMetadata } from './linked-metadata.ts'
import { traversalOf, type Wanted } from './profiles.ts'
import type { traversalSettings } from './settings.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly settings: SettingsOf<(typeof traversalSettings)['rows']>
}

/** Metadata of entries, together with those of linked entries. */
export class Traversals {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @param toRelative makes the stored form of an IRI @throws {InvalidInput} `invalid-query` */
  async read(
    caller: Caller,
    key: EntryKey,
    wanted: Wanted,
    toRelative: (iri: string) => string,
  ): Promise<ReadMetadata> {
    const { database, loader, settings } = this.#deps
    const traversal = traversalOf(settings, wanted)
    const target = await loader.get(key)
    requireRight(caller, 'readmetadata', target, 'read the metadata of this entry')
    const { entry } = target
    if (entry.entryType === 'Reference') throw new NotFound('not-found', 'A Reference has no metadata here.')
    const stored = {
      ...traversal,
      links: traversal.links.map(link => ({ ...link, predicate: toRelative(link.predicate) })),
      stops: traversal.stops.map(stop => ({ predicate: toRelative(stop.predicate), object: toRelative(stop.object) })),
    }
    return {
      entry,
      graph: await linkedMetadata(
        { queries: database, target: address => loader.target(address) },
        caller,
        entry,
        stored,
      ),
    }
  }
}
