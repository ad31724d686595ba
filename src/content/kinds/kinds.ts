import type { Entry, GraphType } from '../../model/entry.ts'
import type { Kinds, ResourceKind } from '../resource-kind.ts'
import { type ContextDependencies, ContextKind } from './context.ts'
import { type FileDependencies, fileKind, pipelineResultKind } from './file.ts'
import { type GroupDependencies, groupKind } from './group.ts'
import type { AllKindReads } from './kind-reads.ts'
import { listKind } from './list.ts'
import { graphKind, textKind } from './stored.ts'
import { type UserDependencies, userKind, type UserOptions } from './user.ts'

type Dependencies = UserDependencies & GroupDependencies & ContextDependencies & FileDependencies

/** The table of kinds that the service uses, with the one of contexts by its own type. */
interface AllKinds extends Kinds {
  readonly ofType: Kinds['ofType'] & { readonly Context: ContextKind }
}

/** The table: one line for each graph type (W1.4). */
export function createKinds(deps: Dependencies, reads: AllKindReads['ofType'], options: UserOptions): AllKinds {
  const { changes } = deps
  const file = fileKind(deps)
  const ofType = {
    None: file,
    String: textKind(changes),
    Graph: graphKind(changes),
    Pipeline: graphKind(changes),
    PipelineResult: pipelineResultKind(reads.PipelineResult),
    List: listKind(changes, reads.List),
    ResultList: listKind(changes, reads.ResultList),
    User: userKind(deps, options, reads.User),
    Group: groupKind(deps, reads.Group),
    Context: new ContextKind(deps),
    SystemContext: new ContextKind(deps, { isCreatable: false }),
  } satisfies Record<GraphType, ResourceKind>
  return {
    ofType,
    of: ({ entryType, graphType }: Pick<Entry, 'entryType' | 'graphType'>) =>
      entryType === 'Local' ? ofType[graphType] : file,
  }
}
