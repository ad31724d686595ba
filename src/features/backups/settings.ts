import { isCron } from '../../base/cron.ts'
import { absoluteUrl, backupPlace } from '../../config/address-kinds.ts'
import { boolean, secret, text } from '../../config/kinds.ts'
import { settingsOf, trimmed } from '../../config/setting.ts'
import type { Settings, SettingsOf } from '../../config/settings.ts'

const cron = settingsOf(
  trimmed('a cron expression such as `0 3 * * *` or `@daily`', text => (isCron(text) ? text : undefined)),
)

/** The backups that the service makes itself. */
export const backupSettings = {
  title: 'Backups',
  rows: {
    'service.backup.schedule': cron({
      sameOnAllNodes: true,
      help: 'When the service makes a backup, in the time zone of the machine: minute, hour, day of the month, month, day of the week.',
    }),
    'service.backup.target': backupPlace({
      sameOnAllNodes: true,
      help: 'Where the backups of `service.backup.schedule` are kept: a folder, or a bucket of an S3 server. Each service needs a place of its own.',
    }),
    'service.backup.keep': text({
      sameOnAllNodes: true,
      matches: /^[1-9]\d{0,3}[dwm]( +[1-9]\d{0,3}[dwm])*$/,
      expects: 'numbers with d, w or m such as `7d 4w 12m`',
      default: '7d 4w 12m',
      help: 'Which backups are kept: the newest backup of each of the last 7 days, 4 weeks and 12 months that have a backup, and always the newest backup of all.',
    }),
    'service.backup.prove': boolean({
      sameOnAllNodes: true,
      default: true,
      help: 'Restores each backup after it was made, and the newest backup daily, into the data folder, compares it and removes the restored copy. The service removes older backups only after that.',
    }),
    'service.backup.encrypt-to.<n>': text({
      sameOnAllNodes: true,
      matches: /^age1[a-z0-9]+$/,
      expects: 'a public key of age, which begins with age1',
      help: 'Public keys (`age-keygen`). If any are set, the backups are encrypted, and a restore needs one of their secret keys.',
    }),
    'service.backup.s3.endpoint': absoluteUrl({
      defaultText: '`AWS_ENDPOINT_URL_S3`',
      help: 'Address of the S3 server for backups, if it differs from the S3 server for files.',
    }),
    'service.backup.s3.region': text({ defaultText: '`AWS_REGION`', help: 'Region of the S3 server for backups.' }),
    'service.backup.s3.access-key': text({
      defaultText: 'where the tools of Amazon look',
      help: 'Id of the access key for the S3 server for backups.',
    }),
    'service.backup.s3.secret-key': secret({ help: 'The secret of the access key for backups.' }),
  },
} as const

export type BackupSettings = Settings & SettingsOf<typeof backupSettings.rows>

/** The settings that a command has read: they contain those of all features, which their type does not say. */
export const withBackupSettings = (settings: Settings): BackupSettings => settings as BackupSettings
