import type { ErrorCode } from '../base/error-codes.ts'
import { InvalidInput, TooLarge } from '../base/errors.ts'
import type { Graph } from './graph.ts'
import { findSyntax } from './syntaxes.ts'

export interface ReadTask {
  readonly mediaType: string
  readonly text: string
  readonly base: string
}

/** Refusals as plain values: a class does not survive the way between threads. */
export type ReadOutcome =
  | { readonly graph: Graph }
  | { readonly refused: 'invalid' | 'large'; readonly code: ErrorCode; readonly detail: string }

/** Reads one graph, on a worker thread. */
export default async function read({ mediaType, text, base }: ReadTask): Promise<ReadOutcome> {
  try {
    const syntax = findSyntax(mediaType)
    if (!syntax) throw new Error(`There is no syntax for ${mediaType}.`)
    return { graph: await syntax.read(text, base) }
  } catch (error) {
    if (error instanceof InvalidInput) return { refused: 'invalid', code: error.code, detail: error.message }
    if (error instanceof TooLarge) return { refused: 'large', code: error.code, detail: error.message }
    throw error
  }
}
