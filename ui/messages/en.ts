import { account } from './en/account.ts'
import { common } from './en/common.ts'
import { files } from './en/files.ts'

/** All that is said, in English. `{name}` is a place for a value; each other language has the same keys and places. */
export const en = { ...common, ...account, ...files }

export type MessageKey = keyof typeof en
export type Messages = Readonly<Record<MessageKey, string>>
