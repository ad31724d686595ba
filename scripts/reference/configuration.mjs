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

Stowage reads its settings from a Java .properties file in UTF-8. The option \`--config FILE\` names the file, or without this option the
environment variable \`SERVICE_CONFIG\`. Without both, the file is \`./service.properties\`, if it exists. Environment variables win over
the file, and \`--set key=value\` wins over both. \`stowage config show\` prints the settings in force, and where each of them comes from.

- **Environment variables:** the variable of a setting is its key in capitals, with \`_\` in place of each character that is no letter or
  digit: \`SERVICE_AUTH_COOKIE_MAX_AGE=3600\`, \`SERVICE_AUTH_OIDC_IDPS_1=campus\`. If a key ends in a name of your choice, the name of the
  variable is the key itself. Containers pass on such variables, but systemd, npm and most shells drop them: use the file there.
- **Secrets:** to read a secret from a file, add \`-file\` to the key of the setting: \`service.smtp.password-file\`,
  \`SERVICE_SMTP_PASSWORD_FILE\`. Stowage ignores line breaks at the end of the file.

Stowage does not start with a mistake in its settings, and reports all mistakes together: a value that is not accepted, a key that occurs
twice, a gap in a numbered list, a removed key, settings that contradict each other. Unknown keys alone cause a warning; with a mistake,
Stowage reports them, too.

- Keys that end in \`<n>\` are lists, numbered 1, 2, 3… without gaps.
- \`<language>\` is a language tag: \`en\`, \`pt-BR\`.
- \`<idp>\` is the name of an identity provider in \`service.auth.saml.idps.<n>\` or \`service.auth.oidc.idps.<n>\`.
- Another word in angle brackets at the end of a key is a name that you choose. Write a colon in it as \`\\:\`.
- Sizes are whole numbers of bytes, or of k, m, g, t (powers of 1024): \`500m\`.
- Durations are whole numbers with ns, us, ms, s, m, h or d: \`5m\`. Without a unit they are milliseconds. If a setting is a number of
  seconds, write only the number.
- *Live* marks settings that a running service [reads again](how-to/install.md#reload).
- *The same on all nodes* marks settings in which [several nodes](how-to/several-nodes.md#change-a-setting) must not differ.

[The password of admin](passwords-and-lockout.md#the-password-of-admin) describes the environment variable \`SERVICE_ADMIN_PASSWORD\`.`

function tableRows(keys) {
  return Object.entries(keys).map(([key, setting]) => {
    const help = [
      setting.help,
      setting.sameOnAllNodes ? '*The same on all nodes.*' : '',
      setting.live === true ? '*Live.*' : setting.live === 'credentials' ? '*Live: user name and password.*' : '',
      setting.warn === undefined ? '' : `*Warning at start:* it ${setting.warn.text}.`,
    ]
    return `| \`${key}\` | ${cell(setting.kind.expects)} | ${defaultCell(setting)} | ${cell(help.filter(Boolean).join(' '))} |`
  })
}

function defaultCell(setting) {
  if (setting.defaultText !== undefined) return cell(setting.defaultText)
  return setting.default === undefined ? '–' : `\`${showValue(setting, setting.default)}\``
}

const cell = text => text.replaceAll('|', '\\|')
