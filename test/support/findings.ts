import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { contradictions, textOfWarning } from '../../src/config/checks.ts'
import { rows } from '../../src/config/keys.ts'
import { repository } from './service.ts'

/** Everything that makes a finding; its code and its text are literals. */
const CALL = /(?:(?<![.\w])(?:ok|warning|problem|level|finding)|: ok\))\(/g
const LITERALS = /^\s*'([a-z-]+)',\s*'((?:[^'\\\n]|\\.)*)'/

/** The English text of each finding in the code of the checks, by its code. */
function readCalls(): Array<readonly [code: string, text: string]> {
  return readdirSync(join(repository, 'src'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'utf8')] as const)
    .filter(
      ([name, source]) =>
        name !== 'check-result.ts' && /^import (?!type )[^']*'[^']*\/(?:check-result|finding)\.ts'/m.test(source),
    )
    .flatMap(([name, source]) =>
      [...source.matchAll(CALL)].map(call => {
        const [, code, text] = LITERALS.exec(source.slice(call.index + call[0].length)) ?? []
        if (code === undefined || text === undefined)
          assert.fail(
            `${name}: write code and text of the finding as literals: ${source.slice(call.index, call.index + 80)}`,
          )
        return [code, text.replaceAll("\\'", "'")] as const
      }),
    )
}

/** The English text of each finding, by its code. */
export function findingTexts(): ReadonlyMap<string, string> {
  const ofSettings = contradictions.flatMap(({ warning, message }) =>
    warning === undefined ? [] : [[warning, textOfWarning(message)] as const],
  )
  const ofSwitches = rows.flatMap(([, { warn }]) =>
    warn === undefined ? [] : [[warn.code, `{key} ${warn.text}`] as const],
  )
  const texts = new Map<string, string>()
  for (const [code, text] of [...readCalls(), ...ofSettings, ...ofSwitches]) {
    assert.equal(texts.get(code) ?? text, text, `two texts have the code ${code}`)
    texts.set(code, text)
  }
  return texts
}
