import type { ComponentChildren } from 'preact'
import { Page } from '../components/page.tsx'
import { t } from '../lib/language.ts'
import { currentPath, Link } from '../lib/router.tsx'
import type { MessageKey } from '../messages/en.ts'

const tabs = [
  ['', 'myFiles'],
  ['shared', 'sharedWithMe'],
  ['shared-by-me', 'sharedByMe'],
] as const satisfies ReadonlyArray<readonly [string, MessageKey]>

interface FilesHomeProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** The frame of the file pages: the user's own contexts, and those shared with them. */
export function FilesHome({ title, children }: FilesHomeProps) {
  const path = currentPath()
  return (
    <Page title={title}>
      <nav class="tabs" aria-label={t('filesOf')}>
        <ul>
          {tabs.map(([to, name]) => (
            <li key={to}>
              <Link to={to} current={path === to ? 'page' : undefined}>
                {t(name)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {children}
    </Page>
  )
}
