import type { Entry, GraphType } from '../../model/entry.ts'
import type { Kinds, ResourceKind } from '../resource-kind.ts'
import { ContextKind } from './context.ts'
import { FileKind } from './file.ts'
import { GraphKind } from './graph.ts'
import { GroupKind } from './group.ts'
import { ListKind } from './list.ts'
import { PipelineResultKind } from './pipeline-result.ts'
import { TextKind } from './text.ts'
import { UserKind, type UserOptions } from './user.ts'

type Dependencies = ConstructorParameters<typeof UserKind>[0] &
  ConstructorParameters<typeof ContextKind>[0] &
  ConstructorParameters<typeof FileKind>[0] &
  ConstructorParameters<typeof ListKind>[0]

/** The table of kinds that the service uses, with the one of contexts by its own type. */
interface AllKinds extends Kinds {
  readonly ofType: Kinds['ofType'] & { readonly Context: ContextKind }
}

/** The table: one line for each graph type (W1.4). */
export function createKinds(deps: Dependencies, options: UserOptions): AllKinds {
  const { changes, database } = deps
  const file = new FileKind(deps)
  const ofType = {
    None: file,
    String: new TextKind(changes),
    Graph: new GraphKind(changes),
    Pipeline: new GraphKind(changes),
    PipelineResult: new PipelineResultKind(database),
    List: new ListKind(deps, { showsMembers: true }),
    ResultList: new ListKind(deps, { showsMembers: false }),
    User: new UserKind(deps, options),
    Group: new GroupKind(deps),
    Context: new ContextKind(deps),
    SystemContext: new ContextKind(deps, { isCreatable: false }),
  } satisfies Record<GraphType, ResourceKind>
  return {
    ofType,
    of: ({ entryType, graphType }: Pick<Entry, 'entryType' | 'graphType'>) =>
      entryType === 'Local' ? ofType[graphType] : file,
  }
}
