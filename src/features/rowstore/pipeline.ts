import { InvalidInput, NotSupported } from '../../base/errors.ts'
import { type Graph, objectsOf, statementsOf } from '../../graph/graph.ts'
import { store } from '../../graph/vocabulary.ts'

/** What a pipeline does at the RowStore. `dataset` is the address of one that exists. */
export type Step =
  | { readonly action: 'create' }
  | { readonly action: 'replace' | 'append'; readonly dataset: string }
  | { readonly action: 'setalias'; readonly dataset: string; readonly alias: string | undefined }

const TYPE = 'rowstore'

/** Reads the one transform of a pipeline. @throws {InvalidInput} `invalid-value` @throws {NotSupported} for other pipelines */
export function readStep(pipeline: Graph): Step {
  const transforms = [...statementsOf(pipeline)]
    .filter(({ predicate }) => predicate === store.term('transform'))
    .map(({ object }) => object.value)
  const [transform] = transforms
  if (transform === undefined) throw unusable('it has no transform')
  const types = transforms.map(id => firstValue(pipeline, id, 'transformType') ?? 'unknown')
  if (types.length > 1 || types[0] !== TYPE) {
    throw new NotSupported(
      'not-available',
      `This service runs only pipelines with one transform, of the type ${TYPE}; this one has ${types.join(', ').slice(0, 100)}.`,
    )
  }
  return stepOf(argumentsOf(pipeline, transform))
}

/** Their keys are in small letters. */
const argumentsOf = (pipeline: Graph, transform: string): ReadonlyMap<string, string> =>
  new Map(
    objectsOf(pipeline, transform, store.term('transformArgument')).map(({ value: id }) => [
      firstValue(pipeline, id, 'transformArgumentKey')?.toLowerCase() ?? '',
      firstValue(pipeline, id, 'transformArgumentValue') ?? '',
    ]),
  )

function stepOf(given: ReadonlyMap<string, string>): Step {
  const action = (given.get('action') ?? 'create').toLowerCase()
  if (action === 'create') return { action }
  const dataset = given.get('dataseturl')
  if (action !== 'replace' && action !== 'append' && action !== 'setalias')
    throw unusable(`its action must be create, replace, append or setalias, but is "${action.slice(0, 40)}"`)
  if (dataset === undefined) throw unusable(`its action ${action} needs the argument datasetURL`)
  if (action !== 'setalias') return { action, dataset }
  const alias = given.get('alias') ?? ''
  if (alias === '') return { action, dataset, alias: undefined }
  // As RowStore accepts them. A hyphen would let an alias look like the id of another dataset.
  if (/^[\p{L}\p{N}]{1,100}$/u.test(alias)) return { action, dataset, alias }
  throw unusable(`the alias must have 1 to 100 letters and digits, but is "${alias.slice(0, 100)}"`)
}

const firstValue = (graph: Graph, subject: string, term: string): string | undefined =>
  objectsOf(graph, subject, store.term(term))[0]?.value

const unusable = (why: string): InvalidInput => new InvalidInput('invalid-value', `The pipeline cannot run: ${why}.`)
