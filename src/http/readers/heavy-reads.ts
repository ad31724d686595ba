import type { FastifyRequest } from 'fastify'
import type { Bytes } from '../../base/units.ts'
import { type EntrySummary, holdsContent, isList } from '../../model/entry.ts'
import type { Services } from '../services.ts'
import { pathPart } from '../route.ts'

type Rule = (request: FastifyRequest, entries: Services['entries']) => boolean | Promise<boolean>

/** A smaller response takes less time than involving another thread. */
const MAX_LIGHT: Bytes = 32_768

const always: Rule = () => true

/** Decides by the entry that the address names. If the entry does not exist, the request is refused at once. */
const byEntry =
  (isHeavy: (entry: EntrySummary, request: FastifyRequest) => boolean): Rule =>
  async (request, entries) => {
    const key = { context: pathPart(request, 'context'), entry: pathPart(request, 'entry') }
    const entry = await entries.summary(key, MAX_LIGHT)
    return entry !== undefined && isHeavy(entry, request)
  }

const isLarge = ({ size, graphType }: EntrySummary): boolean => size > MAX_LIGHT && graphType !== 'User'
const isLargeEntry = byEntry(isLarge)
const hasMembers = (entry: EntrySummary): boolean =>
  isList(entry) || (entry.entryType === 'Local' && entry.graphType === 'Group')

/** The addresses whose GET may take long, and when. Any other request is answered by the thread that received it. */
export const heavyReads: Readonly<Record<string, Rule>> = {
  '/search': always,
  '/lookup': always,
  '/:context/lookup': always,
  '/:context': request => !request.parameters.has('entryname'),
  '/:context/statistics/:type': always,
  '/:context/trash': always,
  '/:context/relations/:entry': always,
  '/:context/entry/:entry/index': always,
  '/:context/merged-metadata/:entry': always,
  '/:context/cached-external-metadata/:entry': always,
  '/:context/entry/:entry': byEntry(
    (entry, request) => isLarge(entry) || (request.parameters.has('includeAll') && hasMembers(entry)),
  ),
  '/:context/metadata/:entry': (request, entries) =>
    request.parameters.has('recursive') || request.parameters.has('rev') || isLargeEntry(request, entries),
  // Files are streams, so their bytes never block other work.
  '/:context/resource/:entry': byEntry(entry => hasMembers(entry) || (isLarge(entry) && holdsContent(entry))),
}
