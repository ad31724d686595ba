import { Link } from '../lib/router.tsx'

interface TabsProps {
  /** What the tabs are parts of, for screen readers. */
  readonly label: string
  readonly path: string
  /** Values of `tab` in the address with their names; the first needs none. */
  readonly tabs: ReadonlyArray<readonly [key: string, name: string]>
  readonly current: string
}

/** Links to the parts of a page. */
export const Tabs = ({ label, path, tabs, current }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    <ul>
      {tabs.map(([key, name], index) => (
        <li key={key}>
          <Link to={index === 0 ? path : `${path}?tab=${key}`} current={key === current ? 'page' : undefined}>
            {name}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
)
