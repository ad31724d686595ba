import { InvalidInput } from './errors.ts'

/** The value that a text in JSON stands for. @throws {InvalidInput} `invalid-json`, naming the place */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The engine's own message quotes the body, and there may be a password in it.
    const place = /at position \d+/.exec((error as Error).message)?.[0]
    throw new InvalidInput('invalid-json', `The body is not JSON${place ? ` ${place}` : ''}.`)
  }
}
