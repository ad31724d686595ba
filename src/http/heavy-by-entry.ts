import type { Bytes } from '../base/units.ts'
import { type EntrySummary, holdsContent, isList } from '../model/entry.ts'
import { type Heavy, pathParameter } from './bound-route.ts'

type Rule = Exclude<Heavy, true>
type Request = Parameters<Rule>[0]

/** A smaller response takes less time than involving another thread. */
const MAX_LIGHT: Bytes = 32_768

/** Decides by the entry that the address names. If the entry does not exist, the request is refused at once. */
const byEntry =
  (isHeavy: (entry: EntrySummary, request: Request) => boolean): Rule =>
  async (request, entries) => {
    const key = { context: pathParameter(request, 'context'), entry: pathParameter(request, 'entry') }
    const entry = await entries.summary(key, MAX_LIGHT)
    return entry !== undefined && isHeavy(entry, request)
  }

// Only the process knows the lockouts of a user.
const isLarge = ({ size, graphType }: EntrySummary): boolean => size > MAX_LIGHT && graphType !== 'User'
const isLargeEntry = byEntry(isLarge)
const hasMembers = (entry: EntrySummary): boolean =>
  isList(entry) || (entry.entryType === 'Local' && entry.graphType === 'Group')

export const heavyEntry: Rule = byEntry(
  (entry, request) => isLarge(entry) || (request.parameters.has('includeAll') && hasMembers(entry)),
)

export const heavyMetadata: Rule = (request, entries) => request.parameters.has('rev') || isLargeEntry(request, entries)

/** Files are streams, so their bytes never block other work. */
export const heavyResource: Rule = byEntry(entry => hasMembers(entry) || (isLarge(entry) && holdsContent(entry)))
