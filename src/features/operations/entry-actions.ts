import type { EntryWriter } from '../../content/changes.ts'
import type { ListMoves } from '../../content/list-moves.ts'
import { requireFewPrincipals } from '../../content/info.ts'
import { WrongMethod } from '../../base/errors.ts'
import type { GraphLimits } from '../../graph/graph.ts'
import type { UsageChange } from '../../files/quota-thresholds.ts'
import { requires } from '../../model/rights.ts'
import type { Trash } from '../trash/trash.ts'
import type { Action, OperationRequest, PlannedEntry } from './operation.ts'
import { sharedAcl } from './share-access.ts'
import { taggedMetadata } from './tag-metadata.ts'

interface Dependencies {
  readonly listMoves: ListMoves
  readonly trash: Trash
  readonly graphLimits: GraphLimits
}

/** What is done with one entry, in the transaction of its portion. Resolves to what it has changed of quotas. */
export type EntryAction = (
  writer: EntryWriter,
  entry: PlannedEntry,
  request: OperationRequest,
) => Promise<readonly UsageChange[]>

const sharing = requires('administer', 'change the info of this entry')
const tagging = requires('writemetadata', 'change the metadata of this entry')

const missing = (member: string): TypeError => new TypeError(`the request has no member ${member}`)

/** All actions but `copy`, which stores bytes first ({@link EntryCopies}). */
export const createEntryActions = ({
  listMoves,
  trash,
  graphLimits,
}: Dependencies): Readonly<Record<Exclude<Action, 'copy'>, EntryAction>> => ({
  move: async (writer, entry, { to }) => {
    if (!to) throw missing('to')
    const move = { entry, from: undefined, fromAny: true }
    return (await listMoves.moveWithin(writer, { context: to.context, list: to.list }, move)).usage
  },
  trash: async (writer, entry) => {
    await trash.putWithin(writer, entry)
    return []
  },
  restore: async (writer, { context, id }) => {
    await trash.restoreWithin(writer, context, id)
    return []
  },
  purge: async (writer, { context, id }) => {
    await trash.deleteWithin(writer, context, id)
    return []
  },
  share: async (writer, address, { share }) => {
    if (!share) throw missing('share')
    const { entry } = await writer.load(address, sharing)
    const acl = sharedAcl(entry, share)
    if (share.role !== 'none') requireFewPrincipals(acl)
    await writer.updateHead(entry, { ...entry, acl })
    return []
  },
  tag: async (writer, address, { tags }) => {
    if (!tags) throw missing('tags')
    const { entry } = await writer.load(address, tagging)
    if (entry.entryType === 'Reference') throw new WrongMethod('Writing local metadata', ['GET', 'HEAD'])
    await writer.update(entry, { ...entry, metadata: taggedMetadata(entry, tags, graphLimits) })
    return []
  },
})
