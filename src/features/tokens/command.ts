import { StartupError } from '../../base/errors.ts'
import { isoTime } from '../../base/times.ts'
import { type Answer, type Call, family, table } from '../../core/operator-command.ts'
import type { Program } from '../../core/command.ts'
import type { OperatorStore } from '../../core/operator-store.ts'
import { everybody, userNamed } from '../../core/operator-users.ts'
import type { SettingsOf } from '../../config/settings.ts'
import { AccessTokens } from './access-tokens.ts'
import type { tokenSettings } from './settings.ts'

export const tokenCommand = (program: Program) =>
  family(program, 'token', 'Lists and revokes access tokens, also while the service runs.', {
    list: { further: ['NAME'], run: list },
    revoke: { words: ['ID'], run: revoke },
  })

async function list(store: OperatorStore, { words: [name] }: Call): Promise<Answer> {
  const tokens = requireTokens(store)
  const found = []
  for await (const user of name === undefined ? everybody(store) : [await userNamed(store, name)])
    for (const { created, expires, lastUsed, userId: _id, ...token } of await tokens.list(user.id))
      found.push({
        ...token,
        user: user.name ?? user.id,
        created: isoTime(created),
        expires: isoTime(expires),
        lastUsed: isoTime(lastUsed) ?? null,
      })
  const rows = found.map(one => [
    one.id,
    one.user,
    one.expires,
    one.lastUsed ?? 'never',
    one.scopes.join(' '),
    one.name,
  ])
  return {
    json: found,
    lines: table([['ID', 'USER', 'EXPIRES', 'LAST-USED', 'SCOPES', 'NAME'], ...rows]),
  }
}

async function revoke(store: OperatorStore, { words: [id = ''] }: Call): Promise<Answer> {
  await requireTokens(store).revoke(store.caller, id)
  return { json: { id }, lines: [`The token ${id} is revoked.`] }
}

function requireTokens(store: OperatorStore): AccessTokens {
  const settings = store.settings as OperatorStore['settings'] & SettingsOf<typeof tokenSettings.rows>
  if (settings['service.auth.access-tokens'])
    return new AccessTokens(store, { maxAge: settings['service.auth.access-tokens.max-age'] })
  throw new StartupError('Access tokens are switched off: set service.auth.access-tokens=on first.')
}
