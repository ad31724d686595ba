import type { Entry, GraphType } from '../../model/entry.ts'
import type { Kinds, ResourceKind } from '../resource-kind.ts'
import { type ContextDependencies, ContextKind } from './context.ts'
import { type FileDependencies, fileKind, pipelineResultKind } from './file.ts'
import { type GroupDependencies, groupKind } from './group.ts'
import { type ListDependencies, listKind } from './list.ts'
import { graphKind, textKind } from './stored.ts'
import { type UserDependencies, userKind, type UserOptions } from './user.ts'

type Dependencies = UserDependencies & GroupDependencies & ContextDependencies & FileDependencies & ListDependencies

/** The table of kinds that the service uses, with the one of contexts by its own type. */
interface AllKinds extends Kinds {
  readonly ofType: Kinds['ofType'] & { readonly Context: ContextKind }
}

/** The table: one line for each graph type (W1.4). */
export function createKinds(deps: Dependencies, options: UserOptions): AllKinds {
  const { changes, database } = deps
  const file = fileKind(deps)
  const ofType = {
    None: file,
    String: textKind(changes),
    Graph: graphKind(changes),
    Pipeline: graphKind(changes),
    PipelineResult: pipelineResultKind(database),
    List: listKind(deps, { showsMembers: true }),
    ResultList: listKind(deps, { showsMembers: false }),
    User: userKind(deps, options),
    Group: groupKind(deps),
    Context: new ContextKind(deps),
    SystemContext: new ContextKind(deps, { isCreatable: false }),
  } satisfies Record<GraphType, ResourceKind>
  return {
    ofType,
    of: ({ entryType, graphType }: Pick<Entry, 'entryType' | 'graphType'>) =>
      entryType === 'Local' ? ofType[graphType] : file,
  }
}
