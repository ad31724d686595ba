import type { Entry, GraphType } from '../../model/entry.ts'
import type { KindReads, ResourceReads } from '../resource-kind.ts'
import { type ContextReadDependencies, ContextReads } from './context-reads.ts'
import { fileReads, pipelineResultReads } from './file.ts'
import { type GroupReadDependencies, groupReads } from './group.ts'
import { type ListReadDependencies, listReads } from './list.ts'
import { graphReads, textReads } from './stored.ts'
import { type UserReadDependencies, userReads } from './user-reads.ts'

export type KindReadDependencies = ListReadDependencies &
  GroupReadDependencies &
  ContextReadDependencies &
  UserReadDependencies

/** How each kind is read, with contexts by their own type. */
export interface AllKindReads extends KindReads {
  readonly ofType: Readonly<Record<GraphType, ResourceReads>> & { readonly Context: ContextReads }
}

/** The same table as {@link createKinds}, without what changes a resource. */
export function createKindReads(deps: KindReadDependencies): AllKindReads {
  const contexts = new ContextReads(deps)
  const ofType = {
    None: fileReads,
    String: textReads,
    Graph: graphReads,
    Pipeline: graphReads,
    PipelineResult: pipelineResultReads(deps.database),
    List: listReads(deps, { showsMembers: true }),
    ResultList: listReads(deps, { showsMembers: false }),
    User: userReads(deps),
    Group: groupReads(deps),
    Context: contexts,
    SystemContext: contexts,
  } satisfies Record<GraphType, ResourceReads>
  return {
    ofType,
    of: ({ entryType, graphType }: Pick<Entry, 'entryType' | 'graphType'>) =>
      entryType === 'Local' ? ofType[graphType] : fileReads,
  }
}
