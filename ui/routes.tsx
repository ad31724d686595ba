import type { ComponentType } from 'preact'
import type { MessageKey } from './messages/en.ts'
import { Account } from './pages/account.tsx'
import { Files } from './pages/files.tsx'

interface Route {
  /** Below `ui/`; a part that begins with a colon is handed to the page under that name. */
  readonly pattern: string
  readonly page: ComponentType<{ readonly parts: Readonly<Record<string, string>> }>
}

/** Every page, the first that fits counts. */
export const routes: readonly Route[] = [
  { pattern: '', page: Account },
  { pattern: 'contexts/:context/files', page: Files },
]

interface Section {
  readonly title: MessageKey
  readonly to: string
  /** Whether a path belongs to it. */
  readonly holds: (path: string) => boolean
  readonly forAdmins?: true
}

/** What the bar on top leads to. */
export const sections: readonly Section[] = [
  { title: 'account', to: '', holds: path => path === '' || path.startsWith('contexts/') },
]
