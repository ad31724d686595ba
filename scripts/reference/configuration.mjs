// docs/configuration.md, from the tables of settings.
import { groups } from '../../src/config/keys.ts'
import { showValue } from '../../src/config/show.ts'

export function configurationReference() {
  const sections = Object.entries(groups).map(([title, keys]) =>
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
  variable with the key itself as its name. Containers pass it on; systemd, npm and most shells drop it: use the file there.
- **Secrets:** for each setting that is a secret, add \`-file\` to its key to read it from a file: \`service.smtp.password-file\`,
  \`SERVICE_SMTP_PASSWORD_FILE\`. Line breaks at the end of the file do not count.

Every mistake prevents the start, and all of them are reported together: a value that is not accepted, a key that occurs twice, a gap
in a numbered list, a removed key, settings that contradict each other. An unknown key alone causes a warning; beside a
mistake it is reported with it.

- Keys that end in \`<n>\` are lists, numbered 1, 2, 3… without gaps.
- \`<language>\` is a language tag: \`en\`, \`pt-BR\`.
- \`<idp>\` is the name of an identity provider out of \`service.auth.saml.idps.<n>\` or \`service.auth.oidc.idps.<n>\`.
- Another word in angle brackets at the end of a key is a name that you choose. Write a colon in it as \`\\:\`.
- Sizes are whole numbers of bytes, or of k, m, g, t (powers of 1024): \`500m\`.
- *Live* marks settings that a running service [reads again](how-to/install.md#reload).
- *The same on all nodes* marks settings in which [several nodes](how-to/several-nodes.md#change-a-setting) must not differ.
- Durations are whole numbers with ns, us, ms, s, m, h or d: \`5m\`. No unit means milliseconds. Where seconds are asked
  for, only the number is written.

The environment variable \`SERVICE_ADMIN_PASSWORD\` gives admin a password of 8 to 2048 characters. Stowage reads it only while admin has no
password, in a new or an older store; afterwards it is ignored. \`SERVICE_ADMIN_PASSWORD_FILE\` names a file with it instead.`

function tableRows(keys) {
  return Object.entries(keys).map(([key, setting]) => {
    const help = [
      setting.help,
      setting.sameOnAllNodes ? '*The same on all nodes.*' : '',
      setting.live === true ? '*Live.*' : setting.live === 'credentials' ? '*Live: user name and password.*' : '',
      setting.warn === undefined ? '' : `*Warning at start:* it ${setting.warn}.`,
    ]
    return `| \`${key}\` | ${cell(setting.kind.expects)} | ${defaultCell(setting)} | ${cell(help.filter(Boolean).join(' '))} |`
  })
}

function defaultCell(setting) {
  if (setting.defaultText !== undefined) return cell(setting.defaultText)
  return setting.default === undefined ? '–' : `\`${showValue(setting, setting.default)}\``
}

const cell = text => text.replaceAll('|', '\\|')
