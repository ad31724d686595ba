import { escapeValue } from 'properties-file/escape'
import { groups, type Key } from './keys.ts'
import type { LoadedSettings } from './load.ts'
import type { Setting } from './setting.ts'
import { showValue, shownValues } from './show.ts'
import type { Origin } from './written.ts'

/** The page docs/configuration.md, in Markdown. */
export function configurationReference(): string {
  const sections = groups.map(({ title, keys }) =>
    [`## ${title}`, '', '| Key | Value | Default | Meaning |', '|---|---|---|---|', ...tableRows(keys)].join('\n'),
  )
  return `${[introduction, ...sections].join('\n\n')}\n`
}

const introduction = `# Configuration

<!-- Generated from src/config/ by \`npm run docs\`. -->

Settings are read from a Java .properties file in UTF-8: the one named by \`stowage serve --config FILE\`, else by the
environment variable \`SERVICE_CONFIG\`, else \`./service.properties\` if it exists, else none. Environment variables win over the file,
and \`--set key=value\` wins over both. \`stowage config show\` prints what is in effect and where it comes from.

- **Environment:** the variable of a setting is its key in capitals, with \`_\` for every character that is no letter or digit:
  \`SERVICE_AUTH_COOKIE_MAX_AGE=3600\`, \`SERVICE_AUTH_OIDC_IDPS_1=campus\`. A key that ends in a name of your choice needs a
  variable with the key itself as its name, as containers allow.
- **Secrets:** for each setting that is a secret, add \`-file\` to its key to read it from a file: \`service.smtp.password-file\`,
  \`SERVICE_SMTP_PASSWORD_FILE\`. Line breaks at the end of the file do not count.

Every mistake prevents the start, and all of them are reported together: a value that is not accepted, a key that occurs twice, a gap
in a numbered list, settings that contradict each other. An unknown key causes a warning.

- Keys that end in \`<n>\` are lists, numbered 1, 2, 3… without gaps.
- \`<language>\` is a language tag: \`en\`, \`pt-BR\`.
- \`<idp>\` is the name of an identity provider out of \`service.auth.saml.idps.<n>\` or \`service.auth.oidc.idps.<n>\`.
- Another word in angle brackets at the end of a key is a name that you choose. Write a colon in it as \`\\:\`.
- Sizes are whole numbers of bytes, or of k, m, g, t (powers of 1024): \`500m\`.
- *The same on all nodes* marks settings in which [several nodes](how-to/several-nodes.md#change-a-setting) must not differ.
- Durations are whole numbers with ns, us, ms, s, m, h or d: \`5m\`. No unit means milliseconds. Where seconds are asked
  for, only the number is written.

The environment variable \`SERVICE_ADMIN_PASSWORD\` gives admin a password of 8 to 2048 characters. It counts while admin has no
password, in a new or an older store; afterwards it is ignored. \`SERVICE_ADMIN_PASSWORD_FILE\` names a file with it instead.`

function tableRows(keys: Readonly<Record<string, Setting>>): string[] {
  return Object.entries(keys).map(([key, setting]) => {
    const help = [
      setting.help,
      setting.sameOnAllNodes ? '*The same on all nodes.*' : '',
      setting.warn === undefined ? '' : `*Warning at start:* it ${setting.warn}.`,
    ]
    return `| \`${key}\` | ${cell(setting.kind.expects)} | ${defaultCell(setting)} | ${cell(help.filter(Boolean).join(' '))} |`
  })
}

function defaultCell(setting: Setting): string {
  if (setting.defaultText !== undefined) return cell(setting.defaultText)
  return setting.default === undefined ? '–' : `\`${showValue(setting, setting.default)}\``
}

const cell = (text: string): string => text.replaceAll('|', '\\|')

/** A setting in effect. */
interface EffectiveSetting {
  /** As written in a file: numbered in a list, with the name of the identity provider. */
  readonly key: string
  /** A secret is masked; empty where there is no value. */
  readonly value: string
  readonly isSet: boolean
  readonly origin: Origin
  /** The heading in the reference, and the meaning there, in Markdown. */
  readonly area: string
  readonly meaning: string
}

/** All settings in effect, in the order of the reference; secrets are masked. */
export function effectiveSettings({
  settings,
  origins,
}: Pick<LoadedSettings, 'settings' | 'origins'>): readonly EffectiveSetting[] {
  return groups.flatMap(({ title, keys }) =>
    Object.entries(keys).flatMap(([key, { help }]) =>
      shownValues(settings, key as Key).map(({ writtenKey, text, isSet }) => ({
        key: writtenKey,
        value: text,
        isSet,
        origin: origins.get(writtenKey) ?? 'default',
        area: title,
        meaning: help,
      })),
    ),
  )
}

/**
 * The settings in effect, one `key=value # origin` per line; secrets are masked. Without `all`, only those that are not
 * defaults. Empty when there is nothing to show.
 */
export function showSettings(loaded: LoadedSettings, options: { readonly all?: boolean } = {}): string {
  return effectiveSettings(loaded)
    .filter(({ origin }) => options.all || origin !== 'default')
    .map(({ key, value, isSet, origin }) => `${key}=${escapeValue(value)}   # ${isSet ? origin : 'not set'}\n`)
    .join('')
}
