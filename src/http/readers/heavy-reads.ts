import type { FastifyRequest } from 'fastify'
import type { Bytes } from '../../base/units.ts'
import { findOutline, type Outline } from '../../content/outline.ts'
import { holdsContent, isList } from '../../model/entry.ts'
import type { Database } from '../../stores/database.ts'
import { pathPart } from '../route.ts'

type Rule = (request: FastifyRequest, database: Database) => boolean | Promise<boolean>

/** What is smaller is answered in less time than it takes to involve another thread. */
const MAX_LIGHT: Bytes = 32_768

const always: Rule = () => true

/** By the entry that the address names; one that does not exist is refused at once. */
const byEntry =
  (isHeavy: (entry: Outline, request: FastifyRequest) => boolean): Rule =>
  async (request, database) => {
    const entry = await findOutline(database, pathPart(request, 'context'), pathPart(request, 'entry'))
    return entry !== undefined && isHeavy(entry, request)
  }

const isLarge = ({ size, graphType }: Outline): boolean => size > MAX_LIGHT && graphType !== 'User'
const hasMembers = (entry: Outline): boolean =>
  isList(entry) || (entry.entryType === 'Local' && entry.graphType === 'Group')

/**
 * The addresses whose GET may take long, and when. What is not named here, or not heavy by its rule, is answered by the
 * thread that has received the request.
 */
export const heavyReads: Readonly<Record<string, Rule>> = {
  '/search': always,
  '/lookup': always,
  '/:context/lookup': always,
  '/:context/statistics/:type': always,
  '/:context/relations/:entry': always,
  '/:context/entry/:entry/index': always,
  '/:context/merged-metadata/:entry': always,
  '/:context/cached-external-metadata/:entry': always,
  '/:context/entry/:entry': byEntry(
    (entry, { parameters }) => isLarge(entry) || (parameters.has('includeAll') && hasMembers(entry)),
  ),
  '/:context/metadata/:entry': async (request, database) =>
    request.parameters.has('recursive') || request.parameters.has('rev') || (await byEntry(isLarge)(request, database)),
  // Files are streams: their bytes never wait for one another.
  '/:context/resource/:entry': byEntry(entry => hasMembers(entry) || (isLarge(entry) && holdsContent(entry))),
}
