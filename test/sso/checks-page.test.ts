import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { casChecks } from '../../src/features/cas/refusals.ts'
import { oidcChecks } from '../../src/features/oidc/refusals.ts'
import { samlChecks } from '../../src/features/saml/refusals.ts'
import { ssoChecks } from '../../src/features/sso/refusal.ts'
import { repository } from '../support/service.ts'

const allChecks = [...ssoChecks, ...samlChecks, ...oidcChecks, ...casChecks]

/** The rows of the tables with an action, by the checks in their first cell. */
function actions(): Map<string, string[]> {
  const page = ['saml', 'oidc', 'cas']
    .map(name => readFileSync(join(repository, `docs/how-to/sso-${name}.md`), 'utf8'))
    .join('\n')
  const found = new Map<string, string[]>()
  for (const [table = ''] of page.matchAll(/^\| (?:Check|Code) \| Usual cause \| What to do \|\n(?:\|.*\n)+/gm)) {
    for (const [, first = '', , action = ''] of table.matchAll(/^\| (`.*?) \| (.*) \| (.*) \|$/gm)) {
      for (const [, check = ''] of first.matchAll(/`([^`]+)`/g)) found.set(check, [...(found.get(check) ?? []), action])
    }
  }
  return found
}

test('the pages of single sign-on have an action for every check that can refuse a sign-on (D19.15)', () => {
  const found = actions()
  for (const check of allChecks) {
    const rows = found.get(check) ?? []
    assert.ok(rows.length > 0, `${check} has no row`)
    for (const action of rows) assert.ok(action.length > 10, `${check}: "${action}" is no action`)
  }
})

test('the pages of single sign-on name no check that does not exist (D19.15)', () => {
  const known: readonly string[] = allChecks
  // Second words of a row: what the CAS server answers, and the setting that a row is about.
  const parts = /^(INVALID_|doctype$|html$|bare ampersand$|not well-formed$)/
  const unknown = [...actions().keys()].filter(check => !known.includes(check) && !parts.test(check))
  assert.deepEqual(unknown, [])
})
