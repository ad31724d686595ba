import type { Examination } from '../../core/examination.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { json, route } from '../../http/interface/route.ts'
import { anyOf, flag, list, mapOf, named, numeric, object, oneOf, text } from '../../http/interface/schema.ts'

interface Services extends HttpServices, Examination {}

const chapter = 'Status and administration'

const Settings = named(
  'Settings',
  object({
    settings: list(
      object({
        key: text(),
        value: text(),
        isSet: flag,
        origin: oneOf('default', 'file', 'environment', '--set', 'secret file'),
        area: text(),
        meaning: text(),
      }),
    ),
  }),
)

const Findings = named(
  'Findings',
  object({
    findings: list(
      object({
        level: oneOf('ok', 'warning', 'problem'),
        code: text(),
        text: text(),
        values: mapOf(anyOf(text(), numeric)),
      }),
    ),
  }),
)

/** Settings and findings, for administrators without access to the host. */
export const diagnosticRoutes = [
  route({
    id: 'listSettings',
    method: 'GET',
    url: '/management/settings',
    chapter,
    summary: 'List the settings in effect, where each comes from, and what it means.',
    details:
      'Secrets are masked. `area` is the heading of the setting in docs/configuration.md, and `meaning` its text there.',
    requires: { role: 'admin', to: 'see the settings' },
    answers: { 200: json('The settings.', Settings) },
    handle: async ({ settings }: Services) => ({ settings: [...settings()] }),
  }),
  route({
    id: 'listFindings',
    method: 'GET',
    url: '/management/findings',
    chapter,
    summary: 'Check addresses, disk, databases, keys, other nodes and identity providers.',
    details:
      'This process makes the same checks as `stowage doctor`. They can take seconds. `code` names the `text`, which is in English, so that ' +
      'clients can show it in another language with the same `values`. Sizes are in bytes, times in ISO 8601. `reason` is an English text.',
    requires: { role: 'admin', to: 'examine the service' },
    answers: { 200: json('The findings.', Findings) },
    handle: async ({ runChecks }: Services) => ({ findings: [...(await runChecks())] }),
  }),
]
