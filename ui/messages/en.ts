import { account } from './en/account.ts'
import { admin } from './en/admin.ts'
import { audit } from './en/audit.ts'
import { common } from './en/common.ts'
import { files } from './en/files.ts'
import { sso } from './en/sso.ts'

/** All that is said, in English. `{name}` is a place for a value; each other language has the same keys and places. */
export const en = { ...common, ...account, ...files, ...admin, ...audit, ...sso }

export type MessageKey = keyof typeof en
export type Messages = Readonly<Record<MessageKey, string>>
